use super::*;

fn place(dev: u64, mnt_id: u64) -> Metadata {
    Metadata {
        dev,
        mnt_id,
        mask: Fields::MNT_ID,
        ..Metadata::default()
    }
}

#[test]
fn a_file_of_another_layer_is_on_the_same_mount() {
    let boundaries = Boundaries::new(Stay::Device, 1);
    boundaries.set(0, &place(1, 7));
    let layer = place(2, 7);
    assert!(boundaries.lies_beyond(0, &layer), "a subvolume");
    assert!(!boundaries.is_mounted_beyond(0, &layer));
    assert!(boundaries.is_mounted_beyond(0, &place(2, 8)));
    assert!(
        !boundaries.is_mounted_beyond(0, &place(1, 8)),
        "a bind mount of the same device"
    );
    // Before Linux 5.8 the mount is not known.
    let unknown = Metadata {
        mask: Fields::empty(),
        ..place(2, 7)
    };
    assert!(boundaries.is_mounted_beyond(0, &unknown));
}
