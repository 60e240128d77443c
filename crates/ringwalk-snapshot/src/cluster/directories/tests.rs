use super::super::part::directory_number;
use super::*;
use crate::schema::Contents;

fn part(task: u32, directories: u32) -> PartFacts {
    PartFacts {
        version: 1,
        task,
        host: String::new(),
        root_devices: Vec::new(),
        directories,
        left: 0,
        resumed: None,
        failures: 0,
        contents: Contents::default(),
    }
}

#[test]
fn directories_of_all_tasks_have_different_numbers() {
    let stage = Stage::new(0);
    stage.new_directory();
    let mut all = Directories::default();
    all.add(&part(5, 2), &stage);
    all.add(&part(1, 1), &stage);
    let number = directory_number;
    assert_eq!(all.found(number(5, 1)), Ok(1));
    assert_eq!(all.found(number(5, 2)), Ok(2));
    assert_eq!(all.listing(number(5, 2)), Ok(2));
    assert_eq!(all.check(), Ok(()));
    assert_eq!(all.listing(number(1, 1)), Ok(3));
    assert!(all.check().unwrap_err().contains("of task 1"));
    assert!(all.found(number(5, 2)).unwrap_err().contains("twice"));
    for wrong in [number(5, 3), number(1, 0), number(2, 1), 0] {
        assert!(all.found(wrong).is_err(), "{wrong}");
    }
}
