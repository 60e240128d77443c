//! `report`: entries and sizes by owner, age, and other keys.

use super::failure::{Failure, not_inside};
use super::input::{Input, Place, Taking};
use crate::given::{self, Engine, Given};
use crate::waiting;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use ringwalk_answers::report::output::json;
use ringwalk_answers::report::{Key, ReportError, ReportOptions, contents_to_report, report};
use ringwalk_snapshot::places;
use std::ffi::OsString;
use std::sync::Arc;

/// A report to be made.
struct Order {
    input: Place,
    taking: Taking,
    options: ReportOptions,
    under: Option<OsString>,
    top: Option<usize>,
}

impl Order {
    fn run(mut self) -> Result<String, Failure> {
        let snapshot = self.input.open_or_take(&self.taking)?;
        // A path may lead through symbolic links, which a snapshot does not follow.
        let places = match &self.under {
            Some(path) => places(path).map_err(Failure::Under)?,
            None => Vec::new(),
        };
        let mut places = places.into_iter().map(Some).collect::<Vec<_>>();
        if places.is_empty() {
            places.push(None);
        }
        for place in places {
            self.options.under = place;
            match report(&snapshot, &self.options) {
                Err(ReportError::NotInside(_)) => {}
                result => {
                    let report = result?;
                    return Ok(json(&report, &report.ranking(self.top)));
                }
            }
        }
        Err(not_inside())
    }
}

#[doc = include_str!(concat!(env!("OUT_DIR"), "/add_up.txt"))]
#[pyfunction]
#[pyo3(signature = (snapshot, by, under, top, workers, source))]
pub(crate) fn add_up(
    snapshot: &Bound<'_, PyAny>,
    by: &str,
    under: Option<&Bound<'_, PyAny>>,
    #[pyo3(from_py_with = given::number_or_none)] top: Option<usize>,
    #[pyo3(from_py_with = given::number_or_none)] workers: Option<usize>,
    source: &str,
) -> PyResult<String> {
    let py = snapshot.py();
    let keys = Key::parse_list(by).map_err(|error| PyValueError::new_err(error.to_string()))?;
    let input = Input::new(snapshot)?;
    let under = under.map(Given::new).transpose()?;
    let engine = Engine::new(source, workers)?;
    let contents = contents_to_report(&keys);
    let mut options = ReportOptions::by(keys);
    options.threads = engine.workers();
    let stop = Arc::clone(&options.stop);
    let order = Order {
        input: input.place.clone(),
        taking: Taking {
            engine,
            one_file_system: false,
            contents,
            stop: Arc::clone(&stop),
        },
        options,
        under: under.as_ref().map(|under| under.path.clone()),
        top,
    };
    let made = waiting::run_until(py, "ringwalk-report", &stop, move || order.run())?;
    let given: Vec<_> = input.given.iter().collect();
    made.map_err(|failure| failure.exception(py, &given, under.as_ref()))
}
