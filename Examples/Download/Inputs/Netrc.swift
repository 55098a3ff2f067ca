/// The entries of a netrc file: `machine`, `default`, `login`, `password`, `account`, quoted tokens, comments. Macros
/// (`macdef`) are skipped.
struct Netrc: Equatable, Sendable {
    struct Entry: Equatable, Sendable {
        /// Nil for `default`.
        var machine: String?
        var login: String?
        var password: String?
    }

    private(set) var entries: [Entry] = []

    /// Skips unknown tokens, as curl and ftp do.
    init(_ text: String) {
        var tokens = Tokens(text)
        while let token = tokens.next() {
            switch token {
            case "machine": entries.append(Entry(machine: tokens.next().map(Self.host)))
            case "default": entries.append(Entry())
            case "login" where !entries.isEmpty: entries[entries.count - 1].login = tokens.next()
            case "password" where !entries.isEmpty: entries[entries.count - 1].password = tokens.next()
            case "account": _ = tokens.next()
            case "macdef": tokens.skipMacro()
            default: break
            }
        }
    }

    /// Returns the machine's first entry, otherwise the default. With a login, returns the first entry that has it.
    func entry(for host: String, login: String? = nil) -> Entry? {
        let host = Self.host(host)
        func fits(_ entry: Entry) -> Bool { login == nil || entry.login == login }
        return entries.first { $0.machine == host && fits($0) } ?? entries.first { $0.machine == nil && fits($0) }
    }

    private static func host(_ name: String) -> String {
        let name = name.lowercased()
        return name.hasSuffix(".") ? String(name.dropLast()) : name
    }

    /// Words separated by whitespace, or in double quotes with `\"`, `\\`, `\n`, `\r` and `\t`.
    private struct Tokens {
        private var rest: Substring.UnicodeScalarView
        private var isAtLineStart = true

        init(_ text: String) { rest = text[...].unicodeScalars }

        mutating func next() -> String? {
            while let scalar = rest.first {
                if scalar == "\n" || scalar == "\r" {
                    isAtLineStart = true
                } else if scalar == "#", isAtLineStart {
                    rest = rest.drop { $0 != "\n" && $0 != "\r" }
                    continue
                } else if !scalar.properties.isWhitespace {
                    isAtLineStart = false
                    return scalar == "\"" ? quoted() : plain()
                }
                rest.removeFirst()
            }
            return nil
        }

        private mutating func plain() -> String {
            let word = rest.prefix { !$0.properties.isWhitespace }
            rest = rest[word.endIndex...]
            return String(word)
        }

        private mutating func quoted() -> String {
            rest.removeFirst()
            var text = String.UnicodeScalarView()
            while let scalar = rest.popFirst(), scalar != "\"" {
                guard scalar == "\\", let escaped = rest.popFirst() else {
                    text.append(scalar)
                    continue
                }
                let named: [Unicode.Scalar: Unicode.Scalar] = ["n": "\n", "r": "\r", "t": "\t"]
                text.append(named[escaped] ?? escaped)
            }
            return String(text)
        }

        /// Skips to the empty line that ends a macro.
        mutating func skipMacro() {
            var wasEmpty = false
            while let scalar = rest.first {
                rest.removeFirst()
                if scalar == "\r" { continue }
                if scalar == "\n" {
                    if wasEmpty { break }
                    wasEmpty = true
                } else {
                    wasEmpty = false
                }
            }
            isAtLineStart = true
        }
    }
}
