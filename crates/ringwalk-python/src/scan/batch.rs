//! One batch, and the export of Arrow's objects to other libraries: capsules with structures of
//! Arrow's C data interface.

use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema};
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{Array as _, RecordBatch, RecordBatchReader, StructArray};
use arrow_schema::{ArrowError, Schema};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

/// Capsules of Arrow's `PyCapsule` interface. A consumer that takes the structure out marks it as
/// released; otherwise the capsule releases it.
pub(crate) struct Capsules;

impl Capsules {
    pub(crate) fn schema<'py>(py: Python<'py>, schema: &Schema) -> PyResult<Bound<'py, PyCapsule>> {
        let schema = FFI_ArrowSchema::try_from(schema).map_err(|error| failed(&error))?;
        PyCapsule::new_with_value(py, schema, c"arrow_schema")
    }

    pub(crate) fn stream(
        py: Python<'_>,
        reader: Box<dyn RecordBatchReader + Send>,
    ) -> PyResult<Bound<'_, PyCapsule>> {
        let stream = FFI_ArrowArrayStream::new(reader);
        PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
    }
}

/// Returns the exception for a bug: arrays of this crate always form a batch.
pub(super) fn failed(error: &ArrowError) -> PyErr {
    PyRuntimeError::new_err(error.to_string())
}

#[doc = include_str!(concat!(env!("OUT_DIR"), "/Batch.txt"))]
#[pyclass(frozen, module = "ringwalk")]
pub(crate) struct Batch(pub(super) RecordBatch);

#[pymethods]
impl Batch {
    fn __len__(&self) -> usize {
        self.0.num_rows()
    }

    fn __repr__(&self) -> String {
        let names = self.fields().join(", ");
        format!("<ringwalk.Batch: {} rows of {names}>", self.0.num_rows())
    }

    /// The number of rows.
    #[getter]
    fn num_rows(&self) -> usize {
        self.0.num_rows()
    }

    /// The names of the columns.
    #[getter]
    fn fields(&self) -> Vec<String> {
        let schema = self.0.schema_ref();
        let names = schema.fields().iter().map(|field| field.name().clone());
        names.collect()
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        Capsules::schema(py, self.0.schema_ref())
    }

    /// Returns the rows without a copy. Ignores the requested schema, which the protocol allows.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<(Bound<'py, PyCapsule>, Bound<'py, PyCapsule>)> {
        let _ = requested_schema;
        let rows = StructArray::from(self.0.clone());
        let array = FFI_ArrowArray::new(&rows.to_data());
        Ok((
            self.__arrow_c_schema__(py)?,
            PyCapsule::new_with_value(py, array, c"arrow_array")?,
        ))
    }
}
