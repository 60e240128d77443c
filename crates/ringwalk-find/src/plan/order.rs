//! The order of neighbouring tests: the one with the least expected work.
//!
//! Only neighbours without an action among them are moved, so each action is done for the same
//! files. For independent tests the best order is by cost divided by how often a test decides the
//! matter (Hellerstein and Stonebraker, "Predicate Migration", 1993).

use super::Step;

/// The operator between the parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operator {
    And,
    Or,
}

/// Sorts each run of parts that change nothing. The sort is stable: equal parts keep their order.
pub(super) fn arrange(parts: &mut [Step<'_>], operator: Operator) {
    for run in parts.chunk_by_mut(|a, b| a.estimate.pure && b.estimate.pure) {
        run.sort_by(|a, b| rank(a, operator).total_cmp(&rank(b, operator)));
    }
}

fn rank(step: &Step<'_>, operator: Operator) -> f64 {
    let decides = match operator {
        Operator::And => 1.0 - step.estimate.success,
        Operator::Or => step.estimate.success,
    };
    step.estimate.cost / decides.max(1e-9)
}
