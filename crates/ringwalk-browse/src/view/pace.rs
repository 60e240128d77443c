//! When a question about something that changes is asked again.

use std::time::{Duration, Instant};

/// The shortest time between two questions: one frame.
const SHORTEST: Duration = Duration::from_millis(50);

/// Keeps what the last question was about, and how long its answer took.
///
/// A question whose answer takes long is asked less often, so that answers take at most a fifth of
/// a processor.
pub(crate) struct Pace<V> {
    seen: Option<V>,
    asked_at: Option<Instant>,
    took: Duration,
}

impl<V> Default for Pace<V> {
    fn default() -> Self {
        Self {
            seen: None,
            asked_at: None,
            took: Duration::ZERO,
        }
    }
}

impl<V: PartialEq> Pace<V> {
    /// Returns true if the last question was about this.
    pub(crate) fn is_current(&self, value: &V) -> bool {
        self.seen.as_ref() == Some(value)
    }

    /// Returns what the last question was about.
    pub(crate) fn seen(&self) -> Option<&V> {
        self.seen.as_ref()
    }

    /// Returns true if a question about this is to be asked now.
    pub(crate) fn is_due(&self, value: &V, now: Instant) -> bool {
        let pause = SHORTEST.max(self.took * 4);
        let is_time = |at: Instant| now.saturating_duration_since(at) >= pause;
        !self.is_current(value) && self.asked_at.is_none_or(is_time)
    }

    /// Remembers a question.
    pub(crate) fn asked(&mut self, value: V, now: Instant) {
        self.seen = Some(value);
        self.asked_at = Some(now);
    }

    /// Remembers that the answer has come. The pause begins now.
    pub(crate) fn answered(&mut self, now: Instant) {
        if let Some(at) = self.asked_at.replace(now) {
            self.took = now.saturating_duration_since(at);
        }
    }

    /// Forgets what the last question was about, so that it is due.
    pub(crate) fn reset(&mut self) {
        self.seen = None;
        self.asked_at = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slow_answers_are_asked_for_less_often() {
        let begin = Instant::now();
        let after = |milliseconds| begin + Duration::from_millis(milliseconds);
        let mut pace = Pace::default();
        assert!(pace.is_due(&1, begin));
        pace.asked(1, begin);
        assert!(!pace.is_due(&1, after(10_000)));
        assert!(!pace.is_due(&2, after(49)));
        assert!(pace.is_due(&2, after(50)));
        pace.answered(after(100));
        assert!(!pace.is_due(&2, after(499)));
        assert!(pace.is_due(&2, after(500)));
        pace.reset();
        assert!(pace.is_due(&1, after(100)));
    }
}
