//! The page as text: template and parts.

use super::visible::{html, visible_bytes};
use super::{Page, data, numbers, tables};
use std::io::{self, Write};

const TEMPLATE: &str = include_str!("page.html");
const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

impl Page {
    /// Writes the page.
    ///
    /// # Errors
    ///
    /// When `out` cannot be written.
    pub fn write(&self, mut out: impl Write) -> io::Result<()> {
        let title = html(&self.title());
        // Only the template has places for parts: a part is written as it is.
        for (at, piece) in TEMPLATE.split("{{").enumerate() {
            let (name, text) = match piece.split_once("}}") {
                Some(split) if at > 0 => split,
                _ => ("", piece),
            };
            let part = match name {
                "style" => STYLE.to_owned(),
                "script" => SCRIPT.to_owned(),
                "title" => title.clone(),
                "summary" => self.summary(),
                "warnings" => tables::warnings(self),
                "colours" => self.colours().to_owned(),
                "growth" => tables::growth(self),
                "files" => tables::files(self),
                "owners" => tables::owners(self),
                "failures" => tables::failures(self),
                "data" => data::json(self),
                "version" => env!("CARGO_PKG_VERSION").to_owned(),
                _ => String::new(),
            };
            out.write_all(part.as_bytes())?;
            out.write_all(text.as_bytes())?;
        }
        Ok(())
    }

    /// Returns the paths that the page is about.
    fn title(&self) -> String {
        if let Some(path) = &self.under {
            return visible_bytes(path);
        }
        let roots = self
            .info
            .roots
            .iter()
            .map(|root| visible_bytes(&root.path.0));
        roots.collect::<Vec<_>>().join(", ")
    }

    /// Returns the sums as items of a list.
    fn summary(&self) -> String {
        let total = self.report.total;
        let mut items = vec![
            ("allocated", self.sizes.size(total.alloc)),
            ("apparent size", self.sizes.size(total.size)),
            ("entries", numbers::count(total.entries)),
            ("snapshot of", numbers::minute(self.start())),
        ];
        if let (Some(growth), Some(top)) = (&self.growth, self.nodes.first()) {
            let since = numbers::minute(growth.start);
            items.push(("growth since", since));
            items.insert(1, ("growth", numbers::growth(top.growth, self.sizes)));
        }
        let items = items.iter().map(|(name, value)| {
            format!("<div><dt>{}</dt><dd>{}</dd></div>", html(name), html(value))
        });
        items.collect()
    }

    /// Returns one more way to colour the diagrams, if there is a comparison.
    fn colours(&self) -> &'static str {
        match self.growth {
            Some(_) => "<option value=\"growth\">growth</option>",
            None => "",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sha2::{Digest, Sha256};

    /// The bound of our own script, in bytes.
    const LONGEST_SCRIPT: usize = 30_000;

    #[test]
    fn the_script_is_short() {
        assert!(SCRIPT.len() <= LONGEST_SCRIPT, "{} bytes", SCRIPT.len());
    }

    #[test]
    fn style_and_script_do_not_end_their_elements() {
        assert!(!STYLE.contains("</") && !SCRIPT.contains("</") && !SCRIPT.contains("<!--"));
    }

    /// The policy of the template names the only style and script that may run, by their hashes.
    #[test]
    fn the_policy_has_the_hashes_of_style_and_script() {
        for (kind, text) in [("style", STYLE), ("script", SCRIPT)] {
            let allowed = format!("{kind}-src 'sha256-{}'", sha256_base64(text));
            assert!(TEMPLATE.contains(&allowed), "page.html needs {allowed}");
        }
    }

    /// Base 64 (RFC 4648) of a hash of 32 bytes, which ends with one `=`.
    fn sha256_base64(text: &str) -> String {
        const DIGITS: &[u8; 64] =
            b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        let mut hash = Sha256::digest(text).to_vec();
        hash.push(0);
        let groups = hash.chunks_exact(3);
        let digits = groups.flat_map(|group| {
            let bits = u32::from_be_bytes([0, group[0], group[1], group[2]]);
            [18, 12, 6, 0].map(|shift| char::from(DIGITS[(bits >> shift & 63) as usize]))
        });
        digits.take(43).chain(['=']).collect()
    }

    #[test]
    fn the_template_has_no_style_or_handler_that_the_policy_forbids() {
        assert!(!TEMPLATE.contains(" style=") && !TEMPLATE.contains(" on"));
        assert!(!SCRIPT.contains("innerHTML") && !SCRIPT.contains("setAttribute(\"style"));
    }
}
