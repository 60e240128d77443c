use super::*;

#[test]
fn names_of_any_length_are_kept() {
    let mut inventory = Inventory::default();
    let names: Vec<Vec<u8>> = [0, 1, 254, 255, 256, 765, 4095]
        .into_iter()
        .map(|len| vec![b'n'; len])
        .collect();
    let places: Vec<u64> = names.iter().map(|name| inventory.add_name(name)).collect();
    for (place, name) in places.into_iter().zip(&names) {
        assert_eq!(inventory.name_at(place), name);
    }
}
