/// Generates a syntactically valid document. The bytes of the input make the choices.
struct Grammar {
    private var choices: ArraySlice<UInt8>
    private(set) var text = ""
    private var depth = 0

    init(_ choices: [UInt8]) { self.choices = choices[...] }

    /// Returns a number below `count` from the next byte of the input. At the end of the input,
    /// returns 0, which always selects the shortest alternative.
    private mutating func choose(_ count: Int) -> Int {
        Int(choices.popFirst() ?? 0) % count
    }

    private mutating func write(_ words: String...) {
        for word in words {
            text += word
            text += [" ", "\n", ",", "\t", " # é\r\n", "\u{FEFF}", " ", " "][choose(8)]
        }
    }

    private mutating func some(_ most: Int, _ item: (inout Grammar) -> Void) {
        depth += 1
        item(&self)
        if depth < 12 { for _ in 0..<choose(most) { item(&self) } }
        depth -= 1
    }

    private mutating func maybe(_ item: (inout Grammar) -> Void) {
        if choose(3) == 1, depth < 12 { item(&self) }
    }

    private mutating func name() {
        write(
            ["a", "b1", "_c", "on", "type", "true", "query", "aVeryLongNameOfAField", "null"][
                choose(9)])
    }

    private mutating func freeName() { write(["a", "B", "_", "query", "input"][choose(5)]) }

    mutating func document() {
        some(4) { $0.definition() }
    }

    private mutating func definition() {
        let isExtension = choose(4) == 3
        if choose(2) == 0 { return executable() }
        if isExtension { write("extend") } else { maybe { $0.string() } }
        // An extension must add something, so it always gets a directive.
        func directives(_ grammar: inout Grammar) {
            if isExtension {
                grammar.directive(isConst: true)
            } else {
                grammar.directives(isConst: true)
            }
        }
        switch choose(isExtension ? 7 : 8) {
        case 0:
            write("scalar")
            name()
            directives(&self)
        case 1:
            write("schema")
            directives(&self)
            write("{")
            some(3) {
                $0.write(["query", "mutation", "subscription"][$0.choose(3)], ":")
                $0.name()
            }
            write("}")
        case 2, 3:
            write(choose(2) == 0 ? "type" : "interface")
            name()
            maybe {
                $0.write("implements")
                $0.delimited("&") { $0.name() }
            }
            directives(&self)
            maybe { $0.braces { $0.fieldDefinition() } }
        case 4:
            write("union")
            name()
            directives(&self)
            maybe {
                $0.write("=")
                $0.delimited("|") { $0.name() }
            }
        case 5:
            write("enum")
            name()
            directives(&self)
            maybe {
                $0.braces {
                    $0.maybe { $0.string() }
                    $0.freeName()
                    $0.directives(isConst: true)
                }
            }
        case 6:
            write("input")
            name()
            directives(&self)
            maybe { $0.braces { $0.inputValue() } }
        default:
            write("directive", "@")
            name()
            maybe { $0.arguments() }
            maybe { $0.write("repeatable") }
            write("on")
            delimited("|") { $0.write(["QUERY", "FIELD", "ENUM"][$0.choose(3)]) }
        }
    }

    private mutating func executable() {
        switch choose(3) {
        // After a type without fields, the brace would be parsed as its fields.
        case 0 where text.isEmpty: selectionSet()
        case 0, 1:
            maybe { $0.string() }
            write(["query", "mutation", "subscription"][choose(3)])
            maybe { $0.name() }
            maybe {
                $0.write("(")
                $0.some(3) { $0.variableDefinition() }
                $0.write(")")
            }
            directives(isConst: false)
            selectionSet()
        default:
            maybe { $0.string() }
            write("fragment")
            freeName()
            write("on")
            name()
            directives(isConst: false)
            selectionSet()
        }
    }

    private mutating func variableDefinition() {
        maybe { $0.string() }
        write("$")
        name()
        write(":")
        type()
        maybe {
            $0.write("=")
            $0.value(isConst: true)
        }
        directives(isConst: true)
    }

    private mutating func selectionSet() { braces { $0.selection() } }

    private mutating func selection() {
        switch choose(4) {
        case 0, 1:
            name()
            maybe {
                $0.write(":")
                $0.name()
            }
            maybe { $0.givenArguments(isConst: false) }
            directives(isConst: false)
            maybe { $0.selectionSet() }
        case 2:
            write("...")
            freeName()
            directives(isConst: false)
        default:
            write("...")
            maybe {
                $0.write("on")
                $0.name()
            }
            directives(isConst: false)
            selectionSet()
        }
    }

    private mutating func braces(_ item: (inout Grammar) -> Void) {
        write("{")
        some(4, item)
        write("}")
    }

    private mutating func delimited(_ delimiter: String, _ item: (inout Grammar) -> Void) {
        maybe { $0.write(delimiter) }
        item(&self)
        for _ in 0..<choose(3) {
            write(delimiter)
            item(&self)
        }
    }

    private mutating func fieldDefinition() {
        maybe { $0.string() }
        name()
        maybe { $0.arguments() }
        write(":")
        type()
        directives(isConst: true)
    }

    private mutating func arguments() {
        write("(")
        some(3) { $0.inputValue() }
        write(")")
    }

    private mutating func inputValue() {
        maybe { $0.string() }
        name()
        write(":")
        type()
        maybe {
            $0.write("=")
            $0.value(isConst: true)
        }
        directives(isConst: true)
    }

    private mutating func directives(isConst: Bool) { maybe { $0.directive(isConst: isConst) } }

    private mutating func directive(isConst: Bool) {
        some(2) {
            $0.write("@")
            $0.name()
            $0.maybe { $0.givenArguments(isConst: isConst) }
        }
    }

    private mutating func givenArguments(isConst: Bool) {
        write("(")
        some(3) { $0.field(isConst: isConst) }
        write(")")
    }

    private mutating func field(isConst: Bool) {
        name()
        write(":")
        value(isConst: isConst)
    }

    private mutating func type() {
        if choose(3) == 1, depth < 12 {
            write("[")
            some(1) { $0.type() }
            write("]")
        } else {
            name()
        }
        maybe { $0.write("!") }
    }

    private mutating func value(isConst: Bool) {
        switch choose(isConst ? 8 : 9) {
        case 0: name()
        case 1: write(["0", "-1", "12345678901234567890"][choose(3)])
        case 2: write(["0.5", "1e9", "-1.5E-3"][choose(3)])
        case 3, 4: string()
        case 5:
            write("[")
            maybe { $0.some(3) { $0.value(isConst: isConst) } }
            write("]")
        case 6:
            write("{")
            maybe { $0.some(3) { $0.field(isConst: isConst) } }
            write("}")
        case 7: write("null")
        default:
            write("$")
            name()
        }
    }

    private mutating func string() {
        let isBlock = choose(2) == 1
        let pieces =
            isBlock
            ? ["a", " ", "\n", "\t", "\\\"\"\"", "é", "\r\n", "\\n", "😀", "    "]
            : [
                "a", " ", "\\n", "\\\"", "\\u00e9", "\\u{1F600}", "\\uD83D\\uDE00", "é", "\\\\",
                "\\u0000",
            ]
        let quotes = isBlock ? "\"\"\"" : "\""
        var value = ""
        for _ in 0..<choose(8) { value += pieces[choose(pieces.count)] }
        write(quotes + value + quotes)
    }
}
