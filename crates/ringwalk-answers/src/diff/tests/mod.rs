mod model;
mod oracle;
mod rules;
