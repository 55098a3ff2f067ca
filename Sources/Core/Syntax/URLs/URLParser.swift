/// Resolves a reference in linear time, according to the WHATWG standard (URL, section 4.4). Unlike the standard's
/// state machine, it parses each part of a URL in a separate method, which finds where the part ends.
struct URLParser {
    private let input: [UInt8]
    private var index = 0
    private let base: ParsedURL?
    private let table: InternationalName.Table
    /// Whether to keep a host that the standard rejects. True for a base URL, because a request was already sent to it.
    private let keepsHost: Bool
    private var url = ParsedURL()

    private init(
        _ text: some Collection<UInt8>, base: ParsedURL?, table: InternationalName.Table, keepsHost: Bool
    ) {
        // Drop control characters and spaces around a reference, and all tabs and line breaks.
        let start = text.firstIndex { $0 > 0x20 } ?? text.endIndex
        var bytes = text[start...].filter { $0 != 0x09 && $0 != 0x0A && $0 != 0x0D }
        while let last = bytes.last, last <= 0x20 { bytes.removeLast() }
        (input, self.base, self.table, self.keepsHost) = (bytes, base, table, keepsHost)
    }

    static func parse(
        _ text: some Collection<UInt8>, base: ParsedURL?, table: InternationalName.Table, keepsHost: Bool = false
    ) throws(URLSyntax.Fault) -> ParsedURL {
        var parser = URLParser(text, base: base, table: table, keepsHost: keepsHost)
        if let scheme = parser.takeScheme() {
            parser.url.scheme = scheme
            try parser.parseAfterScheme()
        } else {
            try parser.parseWithoutScheme()
        }
        return parser.url
    }

    // MARK: Scheme

    private mutating func takeScheme() -> String? {
        guard let first = input.first, ASCII.isLetter(first) else { return nil }
        let end = input.firstIndex { byte in
            let isPart = byte == UInt8(ascii: "+") || byte == UInt8(ascii: "-") || byte == UInt8(ascii: ".")
            return !isPart && !ASCII.isAlphanumeric(byte)
        }
        guard let end, input[end] == UInt8(ascii: ":") else { return nil }
        index = end + 1
        return String(decoding: input[..<end].map(ASCII.lowercase), as: UTF8.self)
    }

    private mutating func parseAfterScheme() throws(URLSyntax.Fault) {
        if url.scheme == "file" { return try parseFile(base?.scheme == "file" ? base : nil) }
        if url.isSpecial {
            // `http:next` is relative to a base of the same scheme.
            if let base, base.scheme == url.scheme, !isAt("//") { return try parseReference(to: base) }
            skipSlashes()
            return try parseAuthority()
        }
        if isAt("//") {
            index += 2
            return try parseAuthority()
        }
        if isAtSlash {
            index += 1
            return parsePath()
        }
        parseOpaquePath()
    }

    private mutating func parseWithoutScheme() throws(URLSyntax.Fault) {
        guard let base else {
            throw URLSyntax.Fault(description: "the URL isn't absolute; expected a scheme such as https://")
        }
        url.scheme = base.scheme
        if base.isOpaque {
            guard isAt("#") else {
                throw URLSyntax.Fault(description: "a relative URL can't be resolved against a \(base.scheme) URL")
            }
            (url.path, url.isOpaque, url.query) = (base.path, true, base.query)
            parseQueryAndFragment()
        } else if base.scheme == "file" {
            try parseFile(base)
        } else {
            try parseReference(to: base)
        }
    }

    // MARK: Relative references

    private mutating func parseReference(to base: ParsedURL) throws(URLSyntax.Fault) {
        if isAtSlash {
            index += 1
            if isAtSlash {
                if url.isSpecial { skipSlashes() } else { index += 1 }
                return try parseAuthority()
            }
            takeAuthority(of: base)
            return parsePath()
        }
        takeAuthority(of: base)
        parseInDirectory(of: base)
    }

    private mutating func takeAuthority(of base: ParsedURL) {
        (url.user, url.password, url.host, url.port) = (base.user, base.password, base.host, base.port)
    }

    private mutating func parseInDirectory(of base: ParsedURL) {
        url.path = base.path
        if index == input.endIndex || isAt("?") || isAt("#") {
            url.query = base.query
            return parseQueryAndFragment()
        }
        if url.scheme == "file", isAtDrive { url.path = [] } else { url.shortenPath() }
        parsePath()
    }

    // MARK: Authority

    private mutating func parseAuthority() throws(URLSyntax.Fault) {
        let end = input[index...].firstIndex { isSlash($0) || isEndOfPath($0) } ?? input.endIndex
        var start = index
        if let at = input[index..<end].lastIndex(of: UInt8(ascii: "@")) {
            let credentials = input[index..<at]
            let colon = credentials.firstIndex(of: UInt8(ascii: ":")) ?? at
            url.user = URLPart.user.encoded(credentials[..<colon])
            url.password = URLPart.user.encoded(credentials[colon...].dropFirst())
            start = at + 1
            if start == end { throw URLSyntax.Fault(description: "the URL has no host") }
        }
        let colon = portColon(start..<end)
        let host = input[start..<(colon ?? end)]
        if host.isEmpty, colon != nil || url.isSpecial { throw URLSyntax.Fault(description: "the URL has no host") }
        do { url.host = try URLHost.parse(host, isOpaque: !url.isSpecial, table: table) } catch {
            guard keepsHost else { throw error }
            url.host = Array(host)
        }
        if let colon { url.port = try port(input[(colon + 1)..<end]) }
        index = end
        parsePathStart()
    }

    private func portColon(_ range: Range<Int>) -> Int? {
        var isInBrackets = false
        for index in range {
            switch input[index] {
            case UInt8(ascii: "["): isInBrackets = true
            case UInt8(ascii: "]"): isInBrackets = false
            case UInt8(ascii: ":") where !isInBrackets: return index
            default: break
            }
        }
        return nil
    }

    private func port(_ digits: ArraySlice<UInt8>) throws(URLSyntax.Fault) -> UInt16? {
        var number: UInt32 = 0
        for byte in digits {
            if ASCII.isDigit(byte) { number = number * 10 + UInt32(byte - UInt8(ascii: "0")) }
            guard ASCII.isDigit(byte), number <= UInt16.max else {
                throw URLSyntax.Fault(description: "the port isn't a number from 0 to 65535")
            }
        }
        let port = UInt16(number)
        return digits.isEmpty || port == url.defaultPort ? nil : port
    }

    // MARK: Path

    private mutating func parsePathStart() {
        if isAtSlash {
            index += 1
            parsePath()
        } else if url.isSpecial {
            parsePath()
        } else {
            parseQueryAndFragment()
        }
    }

    private mutating func parsePath() {
        while true {
            let start = index
            while index < input.endIndex, !isSlash(input[index]), !isEndOfPath(input[index]) { index += 1 }
            let segment = input[start..<index]
            let hasNext = isAtSlash
            let dots = Self.dots(segment)
            if dots == 2 { url.shortenPath() }
            if dots == 0 {
                let isDrive = url.scheme == "file" && url.path.isEmpty && Self.isDrive(segment)
                url.path.append(UInt8(ascii: "/"))
                if isDrive {
                    url.path += [input[start], UInt8(ascii: ":")]
                } else {
                    URLPart.path.append(segment, to: &url.path)
                }
            } else if !hasNext {
                url.path.append(UInt8(ascii: "/"))
            }
            guard hasNext else { break }
            index += 1
        }
        parseQueryAndFragment()
    }

    /// Returns 1 for `.` and 2 for `..`, in any encoding. Otherwise returns 0.
    private static func dots(_ segment: ArraySlice<UInt8>) -> Int {
        var (rest, count) = (segment, 0)
        while let first = rest.first, count < 3 {
            if first == UInt8(ascii: ".") {
                rest = rest.dropFirst()
            } else if rest.count >= 3, first == UInt8(ascii: "%"), rest[rest.startIndex + 1] == UInt8(ascii: "2"),
                rest[rest.startIndex + 2] | 0x20 == UInt8(ascii: "e")
            {
                rest = rest.dropFirst(3)
            } else {
                return 0
            }
            count += 1
        }
        return count < 3 ? count : 0
    }

    private mutating func parseOpaquePath() {
        url.isOpaque = true
        let end = input[index...].firstIndex(where: isEndOfPath) ?? input.endIndex
        url.path = URLPart.path.encoded(input[index..<end])
        index = end
        parseQueryAndFragment()
    }

    private mutating func parseQueryAndFragment() {
        if isAt("?") {
            let end = input[index...].firstIndex(of: UInt8(ascii: "#")) ?? input.endIndex
            let part = url.isSpecial ? URLPart.specialQuery : .query
            url.query = part.encoded(input[(index + 1)..<end])
            index = end
        }
        if isAt("#") { url.fragment = URLPart.fragment.encoded(input[(index + 1)...]) }
    }

    // MARK: Files

    private mutating func parseFile(_ base: ParsedURL?) throws(URLSyntax.Fault) {
        url.host = []
        guard isAtSlash else {
            guard let base else { return parsePath() }
            url.host = base.host
            return parseInDirectory(of: base)
        }
        index += 1
        if isAtSlash {
            index += 1
            return try parseFileHost()
        }
        if let base {
            url.host = base.host
            if !isAtDrive, ParsedURL.startsWithDrive(base.path) { url.path = Array(base.path[..<3]) }
        }
        parsePath()
    }

    private mutating func parseFileHost() throws(URLSyntax.Fault) {
        let end = input[index...].firstIndex { isSlash($0) || isEndOfPath($0) } ?? input.endIndex
        let text = input[index..<end]
        if Self.isDrive(text) { return parsePath() }
        if !text.isEmpty {
            let host = try URLHost.parse(text, isOpaque: false, table: table)
            url.host = host.elementsEqual("localhost".utf8) ? [] : host
        }
        index = end
        parsePathStart()
    }

    private static func isDrive(_ text: ArraySlice<UInt8>) -> Bool {
        guard text.count == 2, let first = text.first, let last = text.last else { return false }
        return ASCII.isLetter(first) && (last == UInt8(ascii: ":") || last == UInt8(ascii: "|"))
    }

    private var isAtDrive: Bool {
        let rest = input[index...]
        return Self.isDrive(rest.prefix(2))
            && (rest.count == 2 || isSlash(rest[index + 2]) || isEndOfPath(rest[index + 2]))
    }

    // MARK: Characters

    private func isAt(_ text: StaticString) -> Bool { input[index...].starts(with: text.description.utf8) }

    private var isAtSlash: Bool { index < input.endIndex && isSlash(input[index]) }

    private func isSlash(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "/") || byte == UInt8(ascii: "\\") && url.isSpecial
    }

    private func isEndOfPath(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "?") || byte == UInt8(ascii: "#") }

    private mutating func skipSlashes() { while isAtSlash { index += 1 } }
}
