import Basics

/// The records of a file, read lazily.
struct ImportRecords: Sequence, IteratorProtocol {
    private enum Source {
        case table(any TableFormat.Type, CSVReader, names: [String], positions: [String: Int])
        case libraryThing(JSONItems, next: Int)
        case bookplate(BookplateFile.Records)
    }

    private var source: Source
    private let dayOrder: DayOrder?
    private let columns: ImportColumns
    /// How often the books of the file have been read according to the records so far. Further records of a book, such as those
    /// of other editions, add to it.
    private var readCounts: [UUID: Int] = [:]

    fileprivate init(_ content: ImportFile.Content, dayOrder: DayOrder?, columns: ImportColumns) {
        self.dayOrder = dayOrder
        self.columns = columns
        switch content {
        case .table(let table, let bytes, let dialect, let names):
            var reader = CSVReader(bytes, dialect)
            _ = reader.next()  // the header
            source = .table(table, reader, names: names, positions: Self.positions(names))
        case .libraryThing(let items): source = .libraryThing(items, next: 0)
        case .bookplate(let file): source = .bookplate(file.records)
        }
    }

    private static func positions(_ names: [String]) -> [String: Int] {
        Dictionary(zip(names.map(ImportColumns.normalized), names.indices)) { first, _ in first }
    }

    mutating func next() -> ImportRecord? {
        switch source {
        case .bookplate(var records):
            defer { source = .bookplate(records) }
            return records.next()
        case .table(let table, var reader, let names, let positions):
            defer { source = .table(table, reader, names: names, positions: positions) }
            guard let record = reader.next() else { return nil }
            return completed(
                line: record.line,
                Result { () throws(ImportProblem) in
                    try Self.cells(record, names)
                }.map { (names, positions, $0) }, table)
        case .libraryThing(let items, let index):
            guard index < items.members.count else { return nil }
            source = .libraryThing(items, next: index + 1)
            let record = Result { () throws(ImportProblem) in
                let (names, cells) = LibraryThingFile.cells(try items.value(items.members[index]))
                return (names, Self.positions(names), cells)
            }
            return completed(line: index + 1, record, LibraryThingRecord.self)
        }
    }

    private static func cells(
        _ record: CSVReader.Record, _ names: [String]
    ) throws(ImportProblem) -> [String] {
        switch record.fields {
        case .failure(let problem):
            throw ImportProblem("The record cannot be read: \(problem.message).")
        case .success(let cells):
            guard cells.count >= names.count else {
                // The record is damaged: its values may be in the wrong columns.
                throw ImportProblem("The record has fewer fields than the file has columns.")
            }
            return cells
        }
    }

    /// Returns the import record of a table's record, completed from the earlier records of the file.
    private mutating func completed(
        line: Int, _ record: Result<([String], [String: Int], [String]), ImportProblem>,
        _ table: any TableFormat.Type
    ) -> ImportRecord {
        do throws(ImportProblem) {
            let (names, positions, cells) = try record.get()
            columns.fill(names, cells)
            let fields = ImportFields(
                positions: positions, cells: cells, columns: columns, dayOrder: dayOrder)
            var book = try table.book(fields)
            if book.status == .read {
                if !book.isIdentified {
                    let key = UUID.derived(
                        from: "title", book.title.lowercased(),
                        book.authors.names.first?.lowercased() ?? "", book.isbn?.description ?? "")
                    book.readCount += readCounts[key] ?? 0
                    readCounts[key] = Swift.min(book.readCount, ImportedRead.countMax)
                }
                book.addUndatedReads()
            }
            if let review = book.review, review.createdAt == nil {
                book.review?.createdAt = book.finishedAt ?? book.addedAt
            }
            return ImportRecord(line: line, content: .book(book), problems: fields.problems)
        } catch {
            return ImportRecord(line: line, content: .nothing, problems: [error])
        }
    }
}

extension ImportFile {
    /// The results of reading all records of a file once, before the first one is stored.
    struct Survey: Equatable {
        /// The number of records. Counting stops at the first one beyond `recordsMax`.
        var total = 0
        /// The columns with data that the import does not keep.
        var ignoredColumns: [String] = []
        var dayOrder: DayOrder?
    }

    /// Returns the records, beginning with the first.
    func records(dayOrder: DayOrder? = nil) -> ImportRecords {
        ImportRecords(content, dayOrder: dayOrder, columns: ImportColumns())
    }

    func survey() -> Survey {
        let columns = ImportColumns()
        var survey = Survey()
        survey.dayOrder = dayOrder
        var records = ImportRecords(content, dayOrder: survey.dayOrder, columns: columns)
        while survey.total <= Self.recordsMax, records.next() != nil { survey.total += 1 }
        let redundant: [String] =
            switch content {
            case .table(let table, _, _, _): table.redundant
            case .libraryThing: LibraryThingRecord.redundant
            case .bookplate: []
            }
        survey.ignoredColumns = columns.ignored(except: redundant)
        return survey
    }

    /// Whether days or months are first in the dates of a table.
    private var dayOrder: DayOrder? {
        guard case .table(_, let bytes, let dialect, let names) = content else { return nil }
        let dates = names.indices.filter { names[$0].lowercased().contains("date") }
        var reader = CSVReader(bytes, dialect)
        _ = reader.next()
        return DayOrder.decided(
            by: reader.lazy.prefix(Self.recordsMax).flatMap { record -> [String] in
                guard let cells = try? record.fields.get() else { return [] }
                // A reading may have two dates with a hyphen between them.
                return dates.filter { $0 < cells.count }.flatMap { index in
                    cells[index].split { ",;|".contains($0) }.map { $0.trimmed }
                }
            })
    }
}
