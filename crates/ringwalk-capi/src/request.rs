//! Checks the options of C and makes a walk of them.

use crate::abi::{
    RINGWALK_FLAG_LEAVES, RINGWALK_FLAG_PREORDER, RINGWALK_FLAG_RAISE_LIMITS, RINGWALK_FLAG_SYNC,
    RINGWALK_FOLLOW_ALWAYS, RINGWALK_FOLLOW_NEVER, RINGWALK_FOLLOW_ROOTS, RINGWALK_ORDER_ANY,
    RINGWALK_ORDER_LISTED, RINGWALK_ORDER_NAME, RINGWALK_PREFETCH_ALWAYS, RINGWALK_PREFETCH_AUTO,
    RINGWALK_PREFETCH_NEVER, RINGWALK_ROOTS_ONLY, RINGWALK_STAY_ANYWHERE, RINGWALK_STAY_DEVICE,
    RINGWALK_STAY_MOUNT, RingwalkOptions,
};
use crate::walk::OpenWalk;
use ringwalk::{Budget, Fields, Follow, Leftover, Order, Prefetch, Root, SourceChoice, Stay, Walk};
use rustix::io::Errno;
use std::num::{NonZeroU64, NonZeroUsize};
use std::time::Duration;

/// The reason why a walk was not opened: an errno, and a message for people.
#[derive(Debug)]
pub(crate) struct Refused {
    pub(crate) errno: Errno,
    pub(crate) message: String,
}

impl Refused {
    pub(crate) fn new(errno: Errno, message: impl Into<String>) -> Self {
        Self {
            errno,
            message: message.into(),
        }
    }

    /// Refuses the value of a member of the options.
    pub(crate) fn value(member: &str, value: impl std::fmt::Display, expected: &str) -> Self {
        Self::new(
            Errno::INVAL,
            format!("{member} is {value}: expected {expected}"),
        )
    }
}

impl From<Errno> for Refused {
    fn from(errno: Errno) -> Self {
        Self::new(errno, std::io::Error::from(errno).to_string())
    }
}

const FLAGS: u32 =
    RINGWALK_FLAG_SYNC | RINGWALK_FLAG_RAISE_LIMITS | RINGWALK_FLAG_PREORDER | RINGWALK_FLAG_LEAVES;

/// The largest number of threads. It is more than was ever of use, and small enough to catch
/// numbers that are mistakes.
const MOST_WORKERS: u32 = 65_536;
const BUFFER_SIZES: std::ops::RangeInclusive<usize> = 1024..=64 << 20;

/// Opens a walk. Uses only the members of `options` that are no pointers.
///
/// # Errors
///
/// `EINVAL` for a value that does not exist, `EOPNOTSUPP` if the source cannot be used, `EMFILE` if
/// too many walks are open.
pub(crate) fn open(
    options: &RingwalkOptions,
    roots: Vec<Root>,
    source: Option<&str>,
    resume: Option<Vec<Leftover>>,
) -> Result<OpenWalk, Refused> {
    if roots.is_empty() {
        return Err(Refused::new(Errno::INVAL, "there is no root"));
    }
    if options.flags & !FLAGS != 0 {
        return Err(Refused::value(
            "flags",
            format_args!("{:#x}", options.flags),
            "RINGWALK_FLAG_ bits",
        ));
    }
    let has = |flag: u32| options.flags & flag != 0;
    let walk = Walk::from_roots(roots)
        .fields(fields(options)?)
        .follow(follow(options)?)
        .stay(stay(options)?)
        .order(order(options)?)
        .prefetch(prefetch(options)?)
        .workers(workers(options)?)
        .buffer_size(buffer_size(options)?)
        .min_depth(options.min_depth as usize)
        .max_depth(max_depth(options)?)
        .source(self::source(source)?)
        .sync(has(RINGWALK_FLAG_SYNC))
        .raise_limits(has(RINGWALK_FLAG_RAISE_LIMITS))
        .preorder(has(RINGWALK_FLAG_PREORDER))
        .descriptor_reserve(Some(options.descriptor_reserve).filter(|reserve| *reserve != 0))
        .budget(budget(options))
        .in_flight(NonZeroUsize::new(options.in_flight))
        .entries_per_second(NonZeroU64::new(options.entries_per_second));
    let walk = match resume {
        Some(leftovers) => walk.resume(leftovers),
        None => walk,
    };
    if walk.is_partial() && options.follow == RINGWALK_FOLLOW_ALWAYS {
        return Err(Refused::value(
            "follow",
            "RINGWALK_FOLLOW_ALWAYS",
            "RINGWALK_FOLLOW_NEVER or _ROOTS with a budget or resume",
        ));
    }
    walk.check_source()
        .map_err(|error| Refused::new(Errno::OPNOTSUPP, error.to_string()))?;
    OpenWalk::new(walk, has(RINGWALK_FLAG_LEAVES))
        .map_err(|errno| Refused::new(errno, "too many walks are open"))
}

fn budget(options: &RingwalkOptions) -> Budget {
    Budget {
        time: NonZeroU64::new(options.budget_time).map(|time| Duration::from_nanos(time.get())),
        entries: NonZeroU64::new(options.budget_entries),
    }
}

fn fields(options: &RingwalkOptions) -> Result<Fields, Refused> {
    let fields = options.fields;
    Fields::from_bits(fields).ok_or_else(|| {
        Refused::value(
            "fields",
            format_args!("{fields:#x}"),
            "RINGWALK_FIELD_ bits",
        )
    })
}

fn follow(options: &RingwalkOptions) -> Result<Follow, Refused> {
    match options.follow {
        RINGWALK_FOLLOW_NEVER => Ok(Follow::Never),
        RINGWALK_FOLLOW_ROOTS => Ok(Follow::CommandLine),
        RINGWALK_FOLLOW_ALWAYS => Ok(Follow::Always),
        other => Err(Refused::value(
            "follow",
            other,
            "RINGWALK_FOLLOW_NEVER, _ROOTS or _ALWAYS",
        )),
    }
}

fn stay(options: &RingwalkOptions) -> Result<Stay, Refused> {
    match options.stay {
        RINGWALK_STAY_ANYWHERE => Ok(Stay::Anywhere),
        RINGWALK_STAY_DEVICE => Ok(Stay::Device),
        RINGWALK_STAY_MOUNT => Ok(Stay::Mount),
        other => Err(Refused::value(
            "stay",
            other,
            "RINGWALK_STAY_ANYWHERE, _DEVICE or _MOUNT",
        )),
    }
}

fn order(options: &RingwalkOptions) -> Result<Order, Refused> {
    match options.order {
        RINGWALK_ORDER_ANY => Ok(Order::Any),
        RINGWALK_ORDER_LISTED => Ok(Order::Listed),
        RINGWALK_ORDER_NAME => Ok(Order::Name),
        other => Err(Refused::value(
            "order",
            other,
            "RINGWALK_ORDER_ANY, _LISTED or _NAME",
        )),
    }
}

fn prefetch(options: &RingwalkOptions) -> Result<Prefetch, Refused> {
    match options.prefetch {
        RINGWALK_PREFETCH_AUTO => Ok(Prefetch::Auto),
        RINGWALK_PREFETCH_ALWAYS => Ok(Prefetch::Always),
        RINGWALK_PREFETCH_NEVER => Ok(Prefetch::Never),
        other => Err(Refused::value(
            "prefetch",
            other,
            "RINGWALK_PREFETCH_AUTO, _ALWAYS or _NEVER",
        )),
    }
}

fn workers(options: &RingwalkOptions) -> Result<Option<NonZeroUsize>, Refused> {
    if options.workers > MOST_WORKERS {
        return Err(Refused::value("workers", options.workers, "65536 at most"));
    }
    Ok(NonZeroUsize::new(options.workers as usize))
}

fn buffer_size(options: &RingwalkOptions) -> Result<Option<usize>, Refused> {
    match options.buffer_size {
        0 => Ok(None),
        size if BUFFER_SIZES.contains(&size) => Ok(Some(size)),
        size => Err(Refused::value(
            "buffer_size",
            size,
            "0, or 1024 to 67108864",
        )),
    }
}

fn max_depth(options: &RingwalkOptions) -> Result<usize, Refused> {
    match options.max_depth {
        0 => Ok(usize::MAX),
        RINGWALK_ROOTS_ONLY => Ok(0),
        depth => usize::try_from(depth)
            .map_err(|_| Refused::value("max_depth", depth, "0, RINGWALK_ROOTS_ONLY, or a depth")),
    }
}

fn source(name: Option<&str>) -> Result<SourceChoice, Refused> {
    name.map_or(Ok(SourceChoice::Auto), str::parse)
        .map_err(|unknown: ringwalk::UnknownSource| Refused::new(Errno::INVAL, unknown.to_string()))
}
