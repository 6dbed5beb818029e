import GraphQL
import TestSupport

@testable import Bookplate

/// A plain recount of a reader's statistics from the lists of reads, progress, and reviews.
struct StatisticsRecount {
    struct Read {
        let id: String
        let finishedOn: String
        let isFinished: Bool
        let format: String?
        let seconds: Int?
        let book: String
        let pages: Int?
        let genre: String?
        let author: String?
        let moods: [String]

        var isListened: Bool { format.map { $0 == "AUDIO" } ?? (seconds != nil) }
    }

    let reads: [Read]
    /// The days with progress since 1970-01-01, in the time zone of the reader, in order.
    let days: [Int]
    let today: Int
    /// The stars of the reviews by book.
    let stars: [String: Double]

    private func ended(_ prefix: String) -> [Read] {
        reads.filter { $0.finishedOn.hasPrefix(prefix) }
    }

    // MARK: - Expected values

    /// - Parameter year: The year of `readByMonth`.
    func library(year: Int) -> Value {
        let finished = reads.filter(\.isFinished)
        let years = Set(finished.compactMap { Int($0.finishedOn.prefix(4)) }).sorted(by: >)
        let ratings = Array(stars.values)
        return .object([
            .init("totals", totals(reads)),
            .init(
                "readByYear",
                .list(
                    years.map { year in
                        [
                            "year": .int(year),
                            "bookCount": .int(ended("\(year)").count(where: \.isFinished)),
                        ]
                    })),
            .init("readByMonth", months(year)),
            .init("readByGenre", genres(finished)), .init("readByAuthor", authors(finished)),
            .init("readByMood", moods(finished)), .init("readByFormat", formats(finished)),
            .init("longestBook", longest(finished, isLongest: true)),
            .init("shortestBook", longest(finished, isLongest: false)),
            .init("averageRating", mean(ratings)), .init("ratings", distribution(ratings)),
            .init(
                "streaks",
                [
                    "currentDays": .int(
                        streaks(days).filter { $0.last >= today - 1 }.map(\.length).max() ?? 0),
                    "longestDays": .int(streaks(days).map(\.length).max() ?? 0),
                    "readingDays": .int(days.count),
                ]),
        ])
    }

    func review(of year: Int) -> Value {
        let reads = ended("\(year)")
        let finished = reads.filter(\.isFinished)
        let ratings = Set(finished.map(\.book)).compactMap { stars[$0] }
        let ordered = finished.filter { $0.finishedOn.count == 10 }
            .sorted { ($0.finishedOn, $0.id) < ($1.finishedOn, $1.id) }
        let days = days.filter { Self.year(ofDay: $0) == year }
        return .object([
            .init("year", .int(year)), .init("totals", totals(reads)),
            .init("previousTotals", totals(ended("\(year - 1)"))), .init("byMonth", months(year)),
            .init("topGenres", genres(finished)), .init("topAuthors", authors(finished)),
            .init("topMoods", moods(finished)), .init("byFormat", formats(finished)),
            .init("averageRating", mean(ratings)),
            .init("ratings", distribution(ratings)),
            .init("longestBook", longest(finished, isLongest: true)),
            .init("shortestBook", longest(finished, isLongest: false)),
            .init("firstRead", Self.node(ordered.first?.id)),
            .init("lastRead", Self.node(ordered.last?.id)),
            .init("longestStreakDays", .int(streaks(days).map(\.length).max() ?? 0)),
            .init("readingDays", .int(days.count)),
        ])
    }

    func goal(_ year: Int, _ unit: String, target: Int) -> Value {
        let totals = totals(ended("\(year)"))
        let progress =
            switch unit {
            case "BOOKS": totals["finishedReads"]?.number ?? 0
            case "PAGES": totals["pages"]?.number ?? 0
            default: totals["hours"]?.number ?? 0
            }
        let first = Self.day(year, 1, 1)
        let passed = Double(today - first) / Double(Self.day(year + 1, 1, 1) - first)
        let expected = Double(target) * min(1, max(0, passed))
        return [
            "year": .int(year), "unit": .string(unit), "target": .int(target),
            "progress": .float(progress), "expected": .float(expected),
            "isOnTrack": .boolean(progress >= expected.rounded(.down)),
            "isReached": .boolean(progress >= Double(target)),
        ]
    }

    // MARK: - Parts

    private func totals(_ reads: [Read]) -> Value {
        let finished = reads.filter(\.isFinished)
        let pages = finished.filter { !$0.isListened }.compactMap(\.pages).reduce(0, +)
        let seconds = finished.filter(\.isListened).compactMap(\.seconds).reduce(0, +)
        return [
            "finishedReads": .int(finished.count),
            "finishedBooks": .int(Set(finished.map(\.book)).count),
            "abandonedReads": .int(reads.count - finished.count), "pages": .int(pages),
            "hours": .float(Double(seconds) / 3600),
        ]
    }

    /// The pages and the hours of finished reads.
    private func amounts(_ finished: [Read]) -> [Value.Member] {
        let totals = totals(finished)
        return [
            .init("pages", totals["pages"] ?? .null), .init("hours", totals["hours"] ?? .null),
        ]
    }

    private func months(_ year: Int) -> Value {
        .list(
            (1...12).map { month in
                let prefix = "\(year)-\(month < 10 ? "0" : "")\(month)"
                let finished = ended(prefix).filter(\.isFinished)
                return .object(
                    [.init("month", .int(month)), .init("readCount", .int(finished.count))]
                        + amounts(finished))
            })
    }

    /// Returns the keys with their counts, the most frequent first.
    private func counts(_ keys: [String]) -> [(key: String, count: Int)] {
        Dictionary(grouping: keys) { $0 }
            .map { (key: $0.key, count: $0.value.count) }
            .sorted { $0.count == $1.count ? $0.key < $1.key : $0.count > $1.count }
    }

    private func genres(_ finished: [Read]) -> Value {
        .list(
            counts(finished.compactMap(\.genre)).map {
                ["genre": .string($0.key), "readCount": .int($0.count)]
            })
    }

    private func authors(_ finished: [Read]) -> Value {
        .list(
            counts(finished.compactMap(\.author)).map {
                ["author": ["name": .string($0.key)], "readCount": .int($0.count)]
            })
    }

    private func moods(_ finished: [Read]) -> Value {
        .list(
            counts(finished.flatMap(\.moods)).map {
                ["mood": .string($0.key), "readCount": .int($0.count)]
            })
    }

    private func formats(_ finished: [Read]) -> Value {
        .list(
            ["PRINT", "EBOOK", "AUDIO"].compactMap { format in
                let finished = finished.filter { $0.format == format }
                if finished.isEmpty { return nil }
                return .object(
                    [
                        .init("format", .string(format)),
                        .init("readCount", .int(finished.count)),
                    ] + amounts(finished))
            })
    }

    private func longest(_ finished: [Read], isLongest: Bool) -> Value {
        let sorted = finished.filter { $0.pages != nil }.sorted { left, right in
            let (first, second) = (left.pages ?? 0, right.pages ?? 0)
            return (first == second ? left.book > right.book : first > second) == isLongest
        }
        return Self.node(sorted.first?.book)
    }

    private static func node(_ id: String?) -> Value {
        id.map { ["id": .string($0)] } ?? .null
    }

    private func mean(_ stars: [Double]) -> Value {
        stars.isEmpty ? .null : .float(stars.reduce(0, +) / Double(stars.count))
    }

    private func distribution(_ stars: [Double]) -> Value {
        .list(
            Set(stars).sorted(by: >).map { value in
                ["stars": .float(value), "bookCount": .int(stars.count { $0 == value })]
            })
    }

    private func streaks(_ days: [Int]) -> [(last: Int, length: Int)] {
        var streaks: [(last: Int, length: Int)] = []
        for day in days {
            if let last = streaks.last, last.last == day - 1 {
                streaks[streaks.count - 1] = (day, last.length + 1)
            } else {
                streaks.append((day, 1))
            }
        }
        return streaks
    }

    // MARK: - Days

    /// The days since 1970-01-01.
    static func day(_ year: Int, _ month: Int, _ day: Int) -> Int {
        let lengths = [31, isLeap(year) ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
        let years = (1970..<year).reduce(0) { $0 + (isLeap($1) ? 366 : 365) }
        return years + lengths.prefix(month - 1).reduce(0, +) + day - 1
    }

    /// - Parameter text: Such as 2026-01-31.
    static func day(_ text: String) -> Int {
        let parts = text.split(separator: "-").compactMap { Int($0) }
        return parts.count == 3 ? day(parts[0], parts[1], parts[2]) : 0
    }

    private static func year(ofDay day: Int) -> Int {
        (1970...2100).last { Self.day($0, 1, 1) <= day } ?? 0
    }

    private static func isLeap(_ year: Int) -> Bool {
        year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
    }

    /// The time zones of the test with their distance to UTC in minutes, in winter.
    static let zones = [
        "UTC": 0, "Asia/Kolkata": 330, "Asia/Tokyo": 540, "America/Phoenix": -420,
        "Pacific/Kiritimati": 840, "Pacific/Pago_Pago": -660, "Europe/Berlin": 60,
    ]

    /// Returns the day of a time, given in minutes since 1970.
    static func day(ofMinute minute: Int, in zone: String) -> Int {
        var offset = zones[zone] ?? 0
        // Summer time begins and ends at 01:00 UTC on the last Sundays of March and October.
        for (first, last) in [((2025, 30), (2025, 26)), ((2026, 29), (2026, 25))]
        where zone == "Europe/Berlin" {
            let summer =
                (day(first.0, 3, first.1) * 1440 + 60)..<(day(last.0, 10, last.1) * 1440 + 60)
            if summer.contains(minute) { offset += 60 }
        }
        return (minute + offset).quotientRoundedDown(dividingBy: 1440)
    }
}

extension Int {
    fileprivate func quotientRoundedDown(dividingBy divisor: Int) -> Int {
        self >= 0 ? self / divisor : -((-self + divisor - 1) / divisor)
    }
}

extension Value {
    var number: Double? {
        switch self {
        case .int(let value): Double(value)
        case .float(let value): value
        default: nil
        }
    }

    /// The value with all numbers as `float`, rounded to nine digits after the point.
    var withRoundedNumbers: Value {
        switch self {
        case .int, .float: .float(((number ?? 0) * 1e9).rounded() / 1e9)
        case .list(let items): .list(items.map(\.withRoundedNumbers))
        case .object(let members):
            .object(members.map { .init($0.name, $0.value.withRoundedNumbers) })
        default: self
        }
    }
}
