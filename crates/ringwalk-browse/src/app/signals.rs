//! Signals that end or stop the program.
//!
//! A handler only sets a flag. The loop looks at the flags, since only there the
//! terminal can be given back.

use signal_hook::consts::{SIGCONT, SIGHUP, SIGINT, SIGTERM, SIGTSTP, SIGWINCH};
use signal_hook::{SigId, flag, low_level};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// The flags of signals that have arrived.
pub(super) struct Signals {
    /// The number of the signal that ends the program; 0 if there was none.
    ending: Arc<AtomicUsize>,
    stop: Arc<AtomicBool>,
    continued: Arc<AtomicBool>,
    resized: Arc<AtomicBool>,
    /// True when nobody looks at the flags any more. Signals then act as usual.
    is_over: Arc<AtomicBool>,
    registered: Vec<SigId>,
}

impl Signals {
    /// Begins to watch.
    pub(super) fn watch() -> io::Result<Self> {
        let mut signals = Self {
            ending: Arc::new(AtomicUsize::new(0)),
            stop: Arc::new(AtomicBool::new(false)),
            continued: Arc::new(AtomicBool::new(false)),
            resized: Arc::new(AtomicBool::new(false)),
            is_over: Arc::new(AtomicBool::new(false)),
            registered: Vec::new(),
        };
        for signal in [SIGHUP, SIGINT, SIGTERM] {
            // This one stays registered for ever: signal-hook cannot set the default action again.
            flag::register_conditional_default(signal, Arc::clone(&signals.is_over))?;
            let number = usize::try_from(signal).unwrap_or(0);
            let ending = Arc::clone(&signals.ending);
            signals
                .registered
                .push(flag::register_usize(signal, ending, number)?);
        }
        flag::register_conditional_default(SIGTSTP, Arc::clone(&signals.is_over))?;
        signals
            .registered
            .push(flag::register(SIGTSTP, Arc::clone(&signals.stop))?);
        signals
            .registered
            .push(flag::register(SIGCONT, Arc::clone(&signals.continued))?);
        signals
            .registered
            .push(flag::register(SIGWINCH, Arc::clone(&signals.resized))?);
        Ok(signals)
    }

    /// Returns the signal that ends the program.
    pub(super) fn ending(&self) -> Option<i32> {
        match self.ending.load(Ordering::Relaxed) {
            0 => None,
            number => i32::try_from(number).ok(),
        }
    }

    /// Returns true if the program shall stop, once for each signal.
    pub(super) fn take_stop(&self) -> bool {
        self.stop.swap(false, Ordering::Relaxed)
    }

    /// Returns true if the program was continued, once for each signal.
    pub(super) fn take_continued(&self) -> bool {
        self.continued.swap(false, Ordering::Relaxed)
    }

    /// Returns true if the terminal has got another size, once for each signal.
    pub(super) fn take_resized(&self) -> bool {
        self.resized.swap(false, Ordering::Relaxed)
    }

    /// Forgets signals of keys. Those that were pressed in a shell were meant for the shell.
    pub(super) fn forget_keyboard(&self) {
        let interrupt = usize::try_from(SIGINT).unwrap_or(0);
        let relaxed = Ordering::Relaxed;
        // Fails if another signal has arrived, which is not forgotten.
        let _ = self.ending.compare_exchange(interrupt, 0, relaxed, relaxed);
        self.take_stop();
    }

    /// Stops the process until it is continued.
    pub(super) fn stop_here(&self) -> io::Result<()> {
        low_level::emulate_default_handler(SIGTSTP)?;
        self.take_continued();
        Ok(())
    }
}

impl Drop for Signals {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        for &id in &self.registered {
            low_level::unregister(id);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signals_set_flags_while_they_are_watched() {
        let signals = Signals::watch().unwrap();
        assert_eq!(signals.ending(), None);
        low_level::raise(SIGCONT).unwrap();
        assert!(signals.take_continued());
        assert!(!signals.take_continued());
        low_level::raise(SIGWINCH).unwrap();
        assert!(signals.take_resized());
        assert!(!signals.take_resized());
        low_level::raise(SIGINT).unwrap();
        assert_eq!(signals.ending(), Some(SIGINT));
        signals.forget_keyboard();
        assert_eq!(signals.ending(), None);
        low_level::raise(SIGTERM).unwrap();
        signals.forget_keyboard();
        assert_eq!(signals.ending(), Some(SIGTERM));
        low_level::raise(SIGTSTP).unwrap();
        assert!(signals.take_stop());
    }
}
