/// Rows of cells: aligned columns with a header on a terminal, and otherwise lines of cells that are separated by tabs.
struct Table {
    private let header: [String]
    private let rows: [[String]]

    /// - Parameters:
    ///   - header: The names of the columns. If it is empty, the table has no header.
    ///   - rows: Rows with one cell per column.
    init(_ header: [String], _ rows: [[String]]) {
        self.header = header
        self.rows = rows
    }

    func lines(isTerminal: Bool = Terminal.isOutput) -> [String] {
        guard isTerminal else { return rows.map { $0.joined(separator: "\t") } }
        guard !rows.isEmpty else { return [] }
        let titles = header.isEmpty ? [] : [header.map { $0.uppercased() }]
        let widths = (titles + rows).reduce(into: [Int]()) { widths, row in
            for (column, cell) in row.enumerated() {
                if column == widths.count { widths.append(0) }
                widths[column] = max(widths[column], cell.count)
            }
        }
        func aligned(_ row: [String]) -> String {
            row.enumerated().map { column, cell in
                // The last cell ends the line.
                column == row.count - 1
                    ? cell : cell + String(repeating: " ", count: widths[column] - cell.count)
            }.joined(separator: "  ")
        }
        return titles.map { Terminal.styled(aligned($0), .bold) } + rows.map(aligned)
    }
}
