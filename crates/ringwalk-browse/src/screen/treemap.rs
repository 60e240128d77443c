//! The treemap: each entry of the directory as a rectangle, as large as its share.

use super::amount::bytes;
use super::buffer::{Buffer, Position, Rect};
use super::style::Palette;
use super::style::Style;
use super::text::safe;
use super::{put, put_line};
use crate::app::App;
use crate::view::{Content, Tile, squarify};

/// Draws the tiles.
pub(crate) fn draw(app: &mut App, area: Rect, buffer: &mut Buffer, palette: Palette) {
    let Some(pane) = &mut app.pane else { return };
    if area.is_empty() {
        return;
    }
    // One tile a row: a screen of tiles is about as many as have a name.
    pane.cursor.set_height(usize::from(area.height));
    let Some(Content::Tiles(tiles)) = &pane.content else {
        return put_line(buffer, area, 0, "  adding up", palette.dim());
    };
    let weights: Vec<u64> = tiles.iter().map(|tile| tile.size).collect();
    if weights.iter().all(|&weight| weight == 0) {
        return put_line(buffer, area, 0, "  nothing here takes space", palette.dim());
    }
    for (index, rectangle) in squarify(&weights, area).into_iter().enumerate() {
        let tile = &tiles[index];
        let is_marked = tile.id.is_some_and(|id| app.marks.contains(id));
        let style = match index == pane.cursor.at {
            true => palette.cursor(),
            false if is_marked => palette.marked(),
            false => palette.tile(index, tile.is_directory),
        };
        draw_tile(tile, is_marked, rectangle, buffer, style);
    }
    // The tile under the cursor may be too small for a name.
    if let Some(tile) = tiles.get(pane.cursor.at) {
        let text = format!(" {} ", label(tile, false));
        let line = area.height - 1;
        let place = Rect {
            y: area.y + line,
            height: 1,
            ..area
        };
        put(
            buffer,
            place.as_position(),
            &text,
            area.width,
            palette.title(),
        );
    }
}

/// Draws a tile: its upper edge holds the name, its left edge separates it from its neighbour.
fn draw_tile(tile: &Tile, is_marked: bool, area: Rect, buffer: &mut Buffer, style: Style) {
    if area.is_empty() {
        return;
    }
    for at in area.positions() {
        buffer[at].set(match (at.x == area.x, at.y == area.y) {
            (true, true) => "+",
            (true, false) => "|",
            (false, true) => "-",
            (false, false) => " ",
        });
    }
    buffer.set_style(area, style);
    let inside = Position {
        x: area.x + 1,
        y: area.y,
    };
    if area.width > 4 {
        put(
            buffer,
            inside,
            &label(tile, is_marked),
            area.width - 1,
            style,
        );
    }
    if area.width > 6 && area.height > 1 {
        let below = Position {
            y: inside.y + 1,
            ..inside
        };
        put(buffer, below, &bytes(tile.size), area.width - 1, style);
    }
}

fn label(tile: &Tile, is_marked: bool) -> String {
    let mark = if is_marked { "*" } else { "" };
    let slash = if tile.is_directory { "/" } else { "" };
    format!("{mark}{slash}{}", safe(&tile.name))
}
