import Requests

/// The constraints of reads and of their progress that input can violate, with their errors.
extension Read {
    private static let noteTooLong = BookplateError.badUserInput(
        field: "note", .init(.tooLong, max: 10_000))

    static let constraints: [String: BookplateError] = [
        "reads_open": .conflict(
            .init(.readIsOpen), field: "outcome"),
        "reads_user_id_book_id_fkey": .notFound(.noSuchBook),
        "reads_dates_check": ReadInput.datesReversed,
        "reads_open_check": ReadInput.openWithEnd,
        "reads_note_check": noteTooLong,
        "reads_length_seconds_check": .badUserInput(
            field: "lengthSeconds", .init(.tooSmall, min: 1)),
        "partial_date_check": .badUserInput(
            field: "finishedOn",
            .init(.invalidDate)),
        "progress_entries_user_id_read_id_fkey": .notFound(.noSuchRead),
        "progress_entries_position_check": ProgressInput.wrongPosition,
        "progress_entries_page_check": .badUserInput(
            field: "page", .init(.tooSmall, min: 0)),
        "progress_entries_percent_check": .badUserInput(
            field: "percent", .init(.outOfRange, min: 0, max: 100)),
        "progress_entries_seconds_check": .badUserInput(
            field: "seconds", .init(.tooSmall, min: 0)),
        "progress_entries_note_check": noteTooLong,
    ]
}
