/// A response of S3: an XML document whose elements contain either elements or text.
struct S3Document {
    /// An element with text.
    struct Leaf {
        let name: String
        let text: String
        let parent: String
        /// Identifies the parent among all elements of the document.
        let parentIndex: Int
    }

    private static let depthMax = 16

    /// The name of the root element.
    private(set) var root = ""
    private(set) var leaves: [Leaf] = []

    /// Parses a document; nil if it is malformed or deeper than 16 elements.
    init?(_ bytes: [UInt8]) {
        var open: [(name: String, index: Int, hasElements: Bool)] = []
        var elementCount = 0
        var text = bytes[0..<0]
        var rest = bytes[...]
        while let start = rest.firstIndex(of: UInt8(ascii: "<")) {
            text = rest[..<start]
            rest = rest[(start + 1)...]
            guard let end = rest.firstIndex(of: UInt8(ascii: ">")) else { return nil }
            var tag = rest[..<end]
            rest = rest[(end + 1)...]
            switch tag.first {
            case UInt8(ascii: "?"), UInt8(ascii: "!"): continue
            case UInt8(ascii: "/"):
                guard let element = open.popLast(),
                    element.name == Self.name(tag.dropFirst())
                else { return nil }
                guard !element.hasElements, let parent = open.last else { continue }
                guard let text = Self.decoded(text) else { return nil }
                leaves.append(
                    .init(
                        name: element.name, text: text, parent: parent.name,
                        parentIndex: parent.index))
            default:
                let isEmpty = tag.last == UInt8(ascii: "/")
                if isEmpty { tag = tag.dropLast() }
                if !open.isEmpty { open[open.count - 1].hasElements = true }
                let name = Self.name(tag)
                guard !name.isEmpty, open.count < Self.depthMax else { return nil }
                if elementCount == 0 { root = name }
                elementCount += 1
                if !isEmpty {
                    open.append((name, elementCount, false))
                } else if let parent = open.last {
                    leaves.append(
                        .init(
                            name: name, text: "", parent: parent.name, parentIndex: parent.index))
                }
            }
        }
        guard open.isEmpty, elementCount > 0 else { return nil }
    }

    /// Returns the text of the first element with this name.
    func text(_ name: String) -> String? { leaves.first { $0.name == name }?.text }

    /// Returns the elements with this name, each as a dictionary of the elements in it.
    func elements(_ name: String) -> [[String: String]] {
        var elements: [[String: String]] = []
        var last: Int?
        for leaf in leaves where leaf.parent == name {
            if leaf.parentIndex != last { elements.append([:]) }
            last = leaf.parentIndex
            elements[elements.count - 1][leaf.name] = leaf.text
        }
        return elements
    }

    /// Returns the name of a tag without its namespace prefix and its attributes.
    private static func name(_ tag: ArraySlice<UInt8>) -> String {
        let blanks: [UInt8] = [0x20, 0x09, 0x0A, 0x0D]
        let name = String(decoding: tag.prefix { !blanks.contains($0) }, as: UTF8.self)
        return name.split(separator: ":").last.map { String($0) } ?? ""
    }

    private static let entities: [String: String] = [
        "amp": "&", "lt": "<", "gt": ">", "quot": "\"", "apos": "'",
    ]

    /// Replaces character and entity references; nil if one is unknown.
    private static func decoded(_ bytes: ArraySlice<UInt8>) -> String? {
        let text = String(decoding: bytes, as: UTF8.self)
        let parts = text.split(separator: "&", omittingEmptySubsequences: false)
        var decoded = String(parts[0])
        for part in parts.dropFirst() {
            let pieces = part.split(
                separator: ";", maxSplits: 1, omittingEmptySubsequences: false)
            guard pieces.count == 2 else { return nil }
            if let character = entities[String(pieces[0])] {
                decoded += character
            } else {
                guard pieces[0].first == "#" else { return nil }
                let digits = pieces[0].dropFirst()
                let code =
                    digits.first == "x" ? UInt32(digits.dropFirst(), radix: 16) : UInt32(digits)
                guard let code, let scalar = Unicode.Scalar(code) else { return nil }
                decoded.unicodeScalars.append(scalar)
            }
            decoded += pieces[1]
        }
        return decoded
    }

    /// Replaces the characters that text in XML must not contain.
    static func escaped(_ text: String) -> String {
        text.replacing("&", with: "&amp;").replacing("<", with: "&lt;")
            .replacing(">", with: "&gt;")
    }
}
