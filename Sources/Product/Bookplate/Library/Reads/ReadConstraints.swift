import Requests

/// The constraints of reads and of their progress that input can violate, with their errors.
extension Read {
    private static let noteTooLong = BookplateError.badUserInput(
        field: "note", "Note may have at most 10,000 characters.")

    static let constraints: [String: BookplateError] = [
        "reads_open": .conflict(
            "This book already has an open read. Finish it first.", field: "outcome"),
        "reads_user_id_book_id_fkey": .notFound(Book.noSuchBook),
        "reads_dates_check": ReadInput.datesReversed,
        "reads_open_check": ReadInput.openWithEnd,
        "reads_note_check": noteTooLong,
        "reads_length_seconds_check": .badUserInput(
            field: "lengthSeconds", "Send a whole number of seconds of at least 1."),
        "partial_date_check": .badUserInput(
            field: "finishedOn",
            "Write a year, month, or day, such as 2019, 2019-05, or 2019-05-01."),
        "progress_entries_user_id_read_id_fkey": .notFound(noSuchRead),
        "progress_entries_position_check": ProgressInput.wrongPosition,
        "progress_entries_page_check": .badUserInput(
            field: "page", "Send a whole number of at least 0."),
        "progress_entries_percent_check": .badUserInput(
            field: "percent", "A percentage must be from 0 to 100."),
        "progress_entries_seconds_check": .badUserInput(
            field: "seconds", "Send a whole number of at least 0."),
        "progress_entries_note_check": noteTooLong,
    ]
}
