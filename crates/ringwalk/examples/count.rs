//! Counts the entries below a directory and adds up their sizes: the shortest useful visitor.

use ringwalk::{Batch, Fields, Flow, Visitor, Walk};

#[derive(Default)]
struct Count {
    files: u64,
    bytes: u64,
}

impl Visitor for Count {
    type State = ();

    fn batch(&mut self, batch: &Batch<'_, ()>) -> Flow {
        if batch.dir().is_some() {
            self.files += batch.len() as u64;
            let sizes = batch.entries().filter_map(|entry| entry.metadata()?.size());
            self.bytes += sizes.sum::<u64>();
        }
        Flow::Continue
    }

    fn error(&mut self, error: &ringwalk::Error) {
        eprintln!("{error}");
    }
}

fn main() {
    let mut args = std::env::args_os().skip(1);
    let root = args.next().unwrap_or_else(|| ".".into());
    let fields = match args.next() {
        Some(_) => Fields::empty(),
        None => Fields::SIZE,
    };
    let workers = args.next().and_then(|n| n.to_str()?.parse().ok());
    let outcome = Walk::new(root)
        .fields(fields)
        .workers(workers)
        .run(|_| Count::default());
    let files: u64 = outcome.visitors.iter().map(|v| v.files).sum();
    let bytes: u64 = outcome.visitors.iter().map(|v| v.bytes).sum();
    println!("{files} files, {bytes} bytes");
    if std::env::var_os("EXPLAIN").is_some() {
        eprintln!("{:#?}", outcome.summary);
    }
}
