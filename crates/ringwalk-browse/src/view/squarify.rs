//! The rectangles of a treemap: squarified, as in Bruls, Huizing and van Wijk, "Squarified
//! Treemaps" (2000).

use crate::screen::Rect;

/// A cell of a terminal is about twice as high as wide.
const CELL_HEIGHT: f64 = 2.0;

/// A rectangle of the plane in which cells are square.
#[derive(Clone, Copy)]
struct Area {
    x: f64,
    y: f64,
    width: f64,
    height: f64,
}

/// Divides an area among weights, the largest first, and returns a rectangle for each. Rectangles
/// do not overlap and leave no gap. Rectangles of small weights may be empty.
// Weights are bytes: a rounding error of 2^-53 is far below one cell.
#[allow(clippy::cast_precision_loss)]
pub(crate) fn squarify(weights: &[u64], area: Rect) -> Vec<Rect> {
    let total: f64 = weights.iter().map(|&weight| weight as f64).sum();
    let mut free = Area {
        x: f64::from(area.x),
        y: f64::from(area.y) * CELL_HEIGHT,
        width: f64::from(area.width),
        height: f64::from(area.height) * CELL_HEIGHT,
    };
    if total <= 0.0 || area.is_empty() {
        return vec![Rect::default(); weights.len()];
    }
    let scale = free.width * free.height / total;
    let sizes: Vec<f64> = weights
        .iter()
        .map(|&weight| weight as f64 * scale)
        .collect();
    let mut rectangles = Vec::with_capacity(sizes.len());
    let mut rest = sizes.as_slice();
    while !rest.is_empty() {
        let length = row_length(rest, free.width.min(free.height));
        let (row, others) = rest.split_at(length);
        // The last row takes the rest of the area, so that rounding leaves no gap.
        place(
            row,
            others.iter().all(|&size| size <= 0.0),
            &mut free,
            &mut rectangles,
        );
        rest = others;
    }
    rectangles
}

/// Returns how many of the sizes form a row along a side: as many as make its rectangles squarer.
fn row_length(sizes: &[f64], side: f64) -> usize {
    let mut sum = 0.0;
    let mut best = f64::INFINITY;
    for (index, &size) in sizes.iter().enumerate() {
        sum += size;
        // Sizes descend, so the first and the last one have the worst ratios.
        let worst = (side * side * sizes[0] / (sum * sum)).max(sum * sum / (side * side * size));
        if worst > best || !worst.is_finite() {
            return index.max(1);
        }
        best = worst;
    }
    sizes.len()
}

/// Places a row along the shorter side of the free area, and takes it from that.
fn place(row: &[f64], is_last: bool, free: &mut Area, out: &mut Vec<Rect>) {
    let sum: f64 = row.iter().sum();
    let is_column = free.width >= free.height;
    let side = if is_column { free.height } else { free.width };
    let mut thickness = if side > 0.0 { sum / side } else { 0.0 };
    if is_last {
        thickness = if is_column { free.width } else { free.height };
    }
    let mut at = 0.0;
    for &size in row {
        let length = if sum > 0.0 { side * size / sum } else { 0.0 };
        let area = if is_column {
            Area {
                x: free.x,
                y: free.y + at,
                width: thickness,
                height: length,
            }
        } else {
            Area {
                x: free.x + at,
                y: free.y,
                width: length,
                height: thickness,
            }
        };
        out.push(cells(area));
        at += length;
    }
    if is_column {
        free.x += thickness;
        free.width = (free.width - thickness).max(0.0);
    } else {
        free.y += thickness;
        free.height = (free.height - thickness).max(0.0);
    }
}

/// Returns the cells of an area. Edges are rounded, so that neighbours share them.
// Coordinates lie within the area of the caller, which is a `Rect`.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
fn cells(area: Area) -> Rect {
    let left = area.x.round() as u16;
    let right = (area.x + area.width).round() as u16;
    let top = (area.y / CELL_HEIGHT).round() as u16;
    let bottom = ((area.y + area.height) / CELL_HEIGHT).round() as u16;
    Rect {
        x: left,
        y: top,
        width: right.saturating_sub(left),
        height: bottom.saturating_sub(top),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn rect(x: u16, y: u16, width: u16, height: u16) -> Rect {
        Rect {
            x,
            y,
            width,
            height,
        }
    }

    proptest! {
        #[test]
        fn rectangles_cover_the_area_once(
            mut weights in prop::collection::vec(0u64..1 << 40, 1..60),
            width in 1u16..120,
            height in 1u16..60,
        ) {
            weights.sort_unstable_by(|a, b| b.cmp(a));
            prop_assume!(weights[0] > 0);
            let area = rect(3, 2, width, height);
            let mut covered = vec![0u8; usize::from(width) * usize::from(height)];
            for rectangle in squarify(&weights, area) {
                for position in rectangle.positions() {
                    prop_assert!(area.contains(position));
                    let (x, y) = (position.x - area.x, position.y - area.y);
                    covered[usize::from(y) * usize::from(width) + usize::from(x)] += 1;
                }
            }
            prop_assert!(covered.iter().all(|&times| times == 1), "{covered:?}");
        }
    }

    #[test]
    fn equal_weights_get_equal_shares() {
        let rectangles = squarify(&[1, 1, 1, 1], rect(0, 0, 40, 20));
        assert!(
            rectangles
                .iter()
                .all(|rectangle| rectangle.width * rectangle.height == 200),
            "{rectangles:?}"
        );
    }

    #[test]
    fn no_weight_gets_no_cell() {
        assert_eq!(
            squarify(&[0, 0], rect(0, 0, 4, 4)),
            vec![Rect::default(); 2]
        );
        assert!(squarify(&[], rect(0, 0, 4, 4)).is_empty());
    }
}
