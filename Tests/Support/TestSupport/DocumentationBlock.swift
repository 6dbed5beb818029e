import FoundationEssentials

/// A fenced code block of the documentation: the words after the opening fence, and the text.
///
/// The page and line identify it in failure messages.
package struct DocumentationBlock: Sendable, CustomStringConvertible {
    package let page: String
    package let line: Int
    package let words: [String]
    package let text: String
    /// The text of the `json variables` block that follows this one, if any.
    package var variables: String?

    package var description: String { "\(page):\(line)" }

    /// The paths of README.md, CONTRIBUTING.md, deploy/README.md, and all pages in docs.
    package static let pages: [String] = {
        let docs =
            (try? FileManager.default.subpathsOfDirectory(atPath: TestCluster.project + "/docs"))
            ?? []
        return ["README.md", "CONTRIBUTING.md", "deploy/README.md"]
            + docs.filter { $0.hasSuffix(".md") }.sorted().map { "docs/\($0)" }
    }()

    /// The blocks of all pages.
    package static let all = pages.flatMap { (try? blocks(of: $0)) ?? [] }

    package static func blocks(of page: String) throws -> [DocumentationBlock] {
        let text = try String(contentsOfFile: "\(TestCluster.project)/\(page)", encoding: .utf8)
        var blocks: [DocumentationBlock] = []
        var open: (line: Int, words: [String], lines: [Substring])?
        for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false)
            .enumerated()
        {
            // Blocks in lists are indented.
            let fence = line.drop { $0 == " " }
            guard fence.hasPrefix("```") else {
                open?.lines.append(line)
                continue
            }
            if let (start, words, lines) = open {
                let text = lines.joined(separator: "\n")
                if words == ["json", "variables"], !blocks.isEmpty {
                    blocks[blocks.count - 1].variables = text
                } else {
                    blocks.append(
                        DocumentationBlock(page: page, line: start, words: words, text: text))
                }
                open = nil
            } else {
                open = (index + 1, fence.dropFirst(3).split(separator: " ").map(String.init), [])
            }
        }
        return blocks
    }
}
