//! Unit tests of `man.rs`.

use super::*;
use ringwalk_cli::cli;

fn page_named(name: &str) -> String {
    let pages = pages(cli::definition()).unwrap();
    let (_, page) = pages
        .into_iter()
        .find(|(file, _)| file == name)
        .expect(name);
    page.replace("\\-", "-")
}

#[test]
fn each_page_has_its_options_and_sections() {
    let count = page_named("ringwalk-count.1");
    for part in [
        "\\fBringwalk count\\fR [\\fB--from\\fR \\fISNAP\\fR] [\\fB--no-stat\\fR]",
        "[\\fICOMMON OPTION\\fR]... [\\fIDIR\\fR]...\n",
        ".TP\n\\fB--from\\fR \\fISNAP\\fR\n",
        ".RS\n.TP\n\\fBauto\\fR\n",
        ".SH \"EXIT STATUS\"",
        "elapsed_seconds",
        "\\fBRINGWALK_SOURCE, RINGWALK_WORKERS,",
    ] {
        assert!(count.contains(part), "{part} is missing in\n{count}");
    }
    assert!(page_named("ringwalk.1").contains("\\fBringwalk\\fR [\\fICOMMON OPTION\\fR]..."));
    assert!(page_named("ringwalk-dupes.1").contains("\\fB--dirs\\fR[=\\fISHARE\\fR]"));
    assert!(page_named("ringwalk-hash.1").contains("\\fB--save\\fR \\fISNAP\\fR\n"));
    assert!(page_named("ringwalk-snapshot.1").contains(" \\fB--output\\fR \\fIFILE\\fR ["));
    assert!(page_named("ringwalk-browse.1").contains("Backspace"));
}

#[test]
fn each_page_has_examples_and_names_pages_and_files_that_exist() {
    let pages = pages(cli::definition()).unwrap();
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    for (name, page) in &pages {
        let page = page.replace("\\-", "-");
        let (text, see) = page.split_once(".SH \"SEE ALSO\"\n").expect(name);
        let (_, examples) = text.split_once(".SH EXAMPLES\n").expect(name);
        assert!(examples.contains(".nf\n"), "{name}");
        for other in see
            .split("\\fB")
            .filter(|name| name.starts_with("ringwalk-"))
        {
            let file = other.split_once("\\fR(").expect(other).0.to_owned() + ".1";
            assert!(pages.iter().any(|(name, _)| *name == file), "{file}");
        }
        for path in page
            .split_whitespace()
            .map(|word| word.trim_end_matches([',', '.', ';']))
            .filter_map(|word| word.strip_suffix(".md"))
        {
            // `make install` replaces the prefix.
            let stem = path.strip_prefix("/usr/share/doc/ringwalk/").expect(path);
            assert!(docs.join(format!("{stem}.md")).exists(), "{name}: {path}");
        }
    }
}

#[test]
fn no_description_is_printed_twice() {
    for (name, page) in pages(cli::definition()).unwrap() {
        let mut lines: Vec<_> = page.lines().filter(|line| line.len() > 40).collect();
        lines.sort_unstable();
        let twice = lines.windows(2).find(|pair| pair[0] == pair[1]);
        assert_eq!(twice, None, "{name}");
        let about = page.lines().skip_while(|line| *line != ".SH NAME").nth(1);
        let (_, about) = about
            .and_then(|line| line.split_once(" \\- "))
            .expect(&name);
        assert_eq!(page.matches(about).count(), 1, "{name}: {about}");
    }
}

#[test]
fn the_page_of_the_program_lists_every_source() {
    let page = page_named("ringwalk.1");
    for source in SourceChoice::ALL {
        let item = format!(".TP\n\\fB{source}\\fR\n{}", source.help());
        assert!(page.contains(&item), "{item} is missing in\n{page}");
    }
}
