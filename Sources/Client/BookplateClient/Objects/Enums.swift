/// How far the reader is with a book. A newer server may have more values.
public struct ReadingStatus: OpenEnum {
    /// The name in the schema.
    public let rawValue: String
    /// Creates a value from its name in the schema.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The reader plans to read the book.
    public static let wantToRead = Self(rawValue: "WANT_TO_READ")
    /// The reader has started the book.
    public static let reading = Self(rawValue: "READING")
    /// The reader has finished the book.
    public static let read = Self(rawValue: "READ")
    /// The reader has interrupted the book.
    public static let paused = Self(rawValue: "PAUSED")
    /// The reader has given up the book.
    public static let didNotFinish = Self(rawValue: "DID_NOT_FINISH")
}

/// Whether a read is open, or how it ended. A newer server may have more values.
public struct ReadOutcome: OpenEnum {
    /// The name in the schema.
    public let rawValue: String
    /// Creates a value from its name in the schema.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The read is open.
    public static let reading = Self(rawValue: "READING")
    /// The reader has finished the book.
    public static let finished = Self(rawValue: "FINISHED")
    /// The reader has given up the book.
    public static let didNotFinish = Self(rawValue: "DID_NOT_FINISH")
}

/// The form in which a book is read. A newer server may have more values.
public struct ReadFormat: OpenEnum {
    /// The name in the schema.
    public let rawValue: String
    /// Creates a value from its name in the schema.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// A printed book.
    public static let print = Self(rawValue: "PRINT")
    /// An electronic book.
    public static let ebook = Self(rawValue: "EBOOK")
    /// An audiobook.
    public static let audio = Self(rawValue: "AUDIO")
}

/// The ways to give a position in a book. A newer server may have more values.
public struct ProgressPosition: OpenEnum {
    /// The name in the schema.
    public let rawValue: String
    /// Creates a value from its name in the schema.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// A page.
    public static let page = Self(rawValue: "PAGE")
    /// A part of the book in percent.
    public static let percent = Self(rawValue: "PERCENT")
    /// The seconds since the beginning of an audiobook.
    public static let seconds = Self(rawValue: "SECONDS")
}

/// The color of a highlight. A newer server may have more values.
public struct LabelColor: OpenEnum {
    /// The name in the schema.
    public let rawValue: String
    /// Creates a value from its name in the schema.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// Yellow.
    public static let yellow = Self(rawValue: "YELLOW")
    /// Orange.
    public static let orange = Self(rawValue: "ORANGE")
    /// Red.
    public static let red = Self(rawValue: "RED")
    /// Pink.
    public static let pink = Self(rawValue: "PINK")
    /// Purple.
    public static let purple = Self(rawValue: "PURPLE")
    /// Blue.
    public static let blue = Self(rawValue: "BLUE")
    /// Green.
    public static let green = Self(rawValue: "GREEN")
    /// Gray.
    public static let gray = Self(rawValue: "GRAY")
}

/// The unit of a reading goal. A newer server may have more values.
public struct GoalUnit: OpenEnum {
    /// The name in the schema.
    public let rawValue: String
    /// Creates a value from its name in the schema.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// Finished reads.
    public static let books = Self(rawValue: "BOOKS")
    /// Pages, as in `ReadingTotals.pages`.
    public static let pages = Self(rawValue: "PAGES")
    /// Hours of audiobooks, as in `ReadingTotals.hours`.
    public static let hours = Self(rawValue: "HOURS")
}

/// The role of a person in the making of a book. A newer server may have more values.
public struct AuthorRole: OpenEnum {
    /// The name in the schema.
    public let rawValue: String
    /// Creates a value from its name in the schema.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// An author, or one of several authors.
    public static let author = Self(rawValue: "AUTHOR")
    /// The editor of a collection.
    public static let editor = Self(rawValue: "EDITOR")
    /// A translator.
    public static let translator = Self(rawValue: "TRANSLATOR")
    /// An illustrator.
    public static let illustrator = Self(rawValue: "ILLUSTRATOR")
    /// The reader of an audiobook.
    public static let narrator = Self(rawValue: "NARRATOR")
    /// Another role, such as the author of a foreword.
    public static let contributor = Self(rawValue: "CONTRIBUTOR")
}
