use super::*;

fn chain(root: &CStr, names: &[&CStr]) -> Arc<Dir<()>> {
    let mut dir = Arc::new(Dir::root(
        root,
        0,
        0,
        Origin::RootPath { follow: false },
        (),
    ));
    for name in names {
        dir = Arc::new(Dir::child(
            &dir,
            name,
            0,
            Origin::Entry {
                follow: false,
                seen: None,
            },
            (),
        ));
    }
    dir
}

#[test]
fn paths_begin_with_the_root_as_given() {
    assert_eq!(chain(c"/", &[]).path(), b"/");
    assert_eq!(chain(c"/", &[c"a", c"b"]).path(), b"/a/b");
    assert_eq!(chain(c"x//", &[c"a"]).path(), b"x//a");
    assert_eq!(chain(c"", &[c"a", c"b"]).path(), b"a/b");
    assert_eq!(chain(c".", &[c"a", c"bc", c"d"]).path(), b"./a/bc/d");
}

#[test]
fn a_long_chain_is_dropped_without_recursion() {
    let names = vec![c"x"; 200_000];
    let dir = chain(c".", &names);
    assert_eq!(dir.depth(), 200_000);
    let thread = std::thread::Builder::new().stack_size(64 * 1024);
    thread.spawn(move || drop(dir)).unwrap().join().unwrap();
}
