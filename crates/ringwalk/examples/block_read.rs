//! Reads random blocks of a file for a while, and counts them. `bench/run block` compares that with
//! fio.
//!
//! `block_read FILE [depth=N] [block=BYTES] [milliseconds=N] [direct] [threads] [iopoll]
//! [sqpoll=MILLISECONDS]`
//!
//! Prints one line of JSON: reads, seconds, seconds of CPU (all threads, user and system), and the
//! way in which the blocks were read.

use ringwalk::block::{BlockReader, ReaderOptions, Request, Transport};
use rustix::fs::OFlags;
use rustix::time::{ClockId, clock_gettime};
use std::error::Error;
use std::fs::{File, OpenOptions};
use std::io::{Seek, SeekFrom};
use std::ops::ControlFlow;
use std::os::unix::fs::OpenOptionsExt;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The clock is read once for this many reads.
const READS_A_LOOK: u32 = 32;

struct Arguments {
    file: File,
    options: ReaderOptions,
    time: Duration,
}

fn arguments() -> Result<Arguments, Box<dyn Error>> {
    let mut words = std::env::args().skip(1);
    let path = words.next().ok_or("no file given")?;
    let mut time = Duration::from_millis(500);
    let mut flags = OFlags::empty();
    let mut options = ReaderOptions {
        buffer_size: 4096,
        gap: 0,
        ..ReaderOptions::default()
    };
    for word in words {
        match word.split_once('=').unwrap_or((word.as_str(), "")) {
            ("depth", number) => options.depth = number.parse()?,
            ("block", number) => options.buffer_size = number.parse()?,
            ("milliseconds", number) => time = Duration::from_millis(number.parse()?),
            ("sqpoll", number) => options.sqpoll = Some(Duration::from_millis(number.parse()?)),
            ("direct", "") => flags = OFlags::DIRECT,
            ("threads", "") => options.transport = Transport::Threads,
            ("iopoll", "") => options.iopoll = true,
            _ => return Err(format!("what is {word}?").into()),
        }
    }
    let file = OpenOptions::new()
        .read(true)
        .custom_flags(flags.bits().cast_signed())
        .open(path)?;
    Ok(Arguments {
        file,
        options,
        time,
    })
}

fn cpu_seconds() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    #[expect(clippy::cast_precision_loss, reason = "seconds of one run")]
    let seconds = time.tv_sec as f64 + time.tv_nsec as f64 / 1e9;
    seconds
}

/// Returns requests for random blocks (xorshift, Marsaglia 2003) until `end`.
fn random(blocks: u64, block: u32, end: Instant) -> impl Iterator<Item = Request> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut reads = 0;
    std::iter::from_fn(move || {
        reads += 1;
        if reads % READS_A_LOOK == 0 && Instant::now() >= end {
            return None;
        }
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        Some(Request {
            offset: state % blocks * u64::from(block),
            len: block,
            tag: 0,
        })
    })
}

fn main() -> Result<(), Box<dyn Error>> {
    let Arguments {
        mut file,
        options,
        time,
    } = arguments()?;
    let blocks = file.seek(SeekFrom::End(0))? / u64::from(options.buffer_size);
    if blocks == 0 {
        return Err("less than one block in the file".into());
    }
    // fio gives the kernel the same advice for random reads.
    rustix::fs::fadvise(&file, 0, None, rustix::fs::Advice::Random)?;
    let mut reader = BlockReader::new(Arc::new(file), &options)?;
    let (start, cpu) = (Instant::now(), cpu_seconds());
    let mut reads = 0_u64;
    let mut failed = None;
    let _ = reader.read_stream(
        random(blocks, options.buffer_size, start + time),
        |_, bytes| match bytes {
            Ok(_) => {
                reads += 1;
                ControlFlow::Continue(())
            }
            Err(error) => {
                failed = Some(error);
                ControlFlow::Break(())
            }
        },
    );
    if let Some(error) = failed {
        return Err(error.into());
    }
    println!(
        r#"{{"reads": {reads}, "seconds": {:.6}, "cpu": {:.6}, "means": "{}"}}"#,
        start.elapsed().as_secs_f64(),
        cpu_seconds() - cpu,
        reader.means()
    );
    Ok(())
}
