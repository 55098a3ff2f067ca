public import ErrandEssentials
import ErrandMessageSyntax
import ErrandSupport

/// Header fields in the order they were added. Names compare case-insensitively, and a name can occur more than once.
///
/// ```swift
/// var headers: HTTPHeaders = ["Accept": "application/json"]
/// headers["X-Trace"] = "7"                          // replaces, nil removes
/// headers.add("Via", "1.1 proxy")                   // keeps what is there
/// headers.set("X-Api-Key", key, sensitive: true)    // never logged, lost on a redirect to another origin
/// ```
///
/// Being sensitive is a property of the name: while a field of that name exists, every method that adds, sets, replaces
/// or merges one keeps the mark. Only removing the name removes the mark.
///
/// Names and values are checked when a request is sent, not here; see ``HTTPRequest/validate()``.
public struct HTTPHeaders: Sendable, Hashable, ExpressibleByDictionaryLiteral, RandomAccessCollection {
    /// One header field: a name, a value, and whether the value is a secret.
    public struct Field: Sendable, Hashable {
        /// The name of the field.
        public var name: HTTPHeaderName {
            didSet {
                isChecked = false
                if name.isSensitive { isSensitive = true }
            }
        }
        /// The field's value, without leading or trailing white space.
        public var value: String { didSet { isChecked = false } }
        /// Whether descriptions and logs mask the value, and a redirect to another origin drops the field. Always true
        /// for credentials and cookies.
        public var isSensitive: Bool {
            didSet { if !isSensitive, name.isSensitive { isSensitive = true } }
        }
        /// Whether the value's bytes on the wire are Latin-1 instead of UTF-8. A transport sets it for a received
        /// value, and it stays when you send the value back, such as an entity tag. Defaults to false.
        public var isLatin1 = false
        /// Whether the name and value are known to be valid.
        fileprivate var isChecked = false

        /// Creates a field. Credentials and cookies are sensitive regardless of the argument.
        public init(_ name: HTTPHeaderName, _ value: String, sensitive: Bool = false) {
            self.name = name
            self.value = value
            isSensitive = sensitive || name.isSensitive
        }

        /// Compares names case-insensitively, values byte by byte, and whether both are sensitive and Latin-1.
        public static func == (a: Field, b: Field) -> Bool {
            a.name == b.name && a.value.hasSameBytes(as: b.value) && a.isSensitive == b.isSensitive
                && a.isLatin1 == b.isLatin1
        }

        /// Hashes the name and value.
        public func hash(into hasher: inout Hasher) {
            hasher.combine(name)
            hasher.combine(value)
        }

        /// A copy of the field that is marked as checked if it's valid, so requests that contain it don't check it
        /// again.
        public var checked: Field {
            var copy = self
            copy.isChecked = (try? check()) != nil
            return copy
        }

        /// Throws unless the name is a token and the value contains no control characters (RFC 9110, sections 5.1 and
        /// 5.5).
        func check() throws {
            if isChecked { return }
            guard name.isValid else {
                throw ErrandError(
                    .invalidRequest,
                    "the header name \(name.rawName.debugDescription) has a character that header names can't have")
            }
            guard Self.isFreeOfControls(value) else {
                throw ErrandError(.invalidRequest, "the value of the header \(name) contains a control character")
            }
        }

        /// Returns whether the text contains no control character other than tab.
        private static func isFreeOfControls(_ text: String) -> Bool {
            text.withSpan { bytes in
                // No early exit: a loop without branches can be vectorized.
                var controls: UInt8 = 0
                for index in bytes.indices {
                    let byte = bytes[index]
                    controls |= (byte < 0x20 ? 1 : 0) & (byte != 0x09 ? 1 : 0) | (byte == 0x7F ? 1 : 0)
                }
                return controls == 0
            }
        }

        fileprivate func sensitive(_ isSensitive: Bool) -> Field {
            var field = self
            field.isSensitive = isSensitive
            return field
        }
    }

    private var fields: ContiguousArray<Field> = []

    /// Creates headers without fields.
    public init() {}
    /// Creates headers from fields, in their order.
    public init(_ fields: [Field]) {
        self.fields = ContiguousArray(fields)
        spreadMarks()
    }
    /// Creates headers from a sequence of fields, in their order.
    public init(_ fields: some Sequence<Field>) { self.init(Array(fields)) }
    /// Creates headers from a dictionary, sorted by name.
    public init(_ fields: [String: String]) {
        self.init(fields.sorted { $0.key < $1.key }.map { Field(HTTPHeaderName($0.key), $0.value) })
    }
    /// Creates headers from a dictionary literal, in its order. A name can occur more than once.
    public init(dictionaryLiteral elements: (HTTPHeaderName, String)...) {
        // Literals can mark fields only by name, so spreading marks isn't necessary.
        fields = ContiguousArray(elements.map { Field($0.0, $0.1) })
    }

    /// The index of the first field, always 0.
    public var startIndex: Int { 0 }
    /// The index after the last field, which is the number of fields.
    public var endIndex: Int { fields.count }
    /// Returns the field at a position.
    public subscript(position: Int) -> Field { fields[position] }

    /// The value of a name. The values of several fields are joined by ", " (RFC 9110, section 5.3), those in `Cookie`
    /// by "; " (RFC 9113, section 8.2.3).
    ///
    /// Setting a value replaces all fields of the name and keeps them sensitive if one was. Setting `nil` removes the
    /// fields and their mark.
    public subscript(name: HTTPHeaderName) -> String? {
        get {
            guard var index = index(of: name) else { return nil }
            var value = fields[index].value
            while let next = self.index(of: name, from: index + 1) {
                value += (name == .cookie ? "; " : ", ") + fields[next].value
                index = next
            }
            return value
        }
        set {
            guard let newValue else { return remove(name) }
            set(name, newValue)
        }
    }

    /// Returns the values of a name in order, one per field.
    public func values(of name: HTTPHeaderName) -> [String] {
        contains(name) ? fields.lazy.filter { $0.name == name }.map(\.value) : []
    }

    /// Returns whether there is a field of that name.
    public func contains(_ name: HTTPHeaderName) -> Bool { index(of: name) != nil }

    /// Returns the position of a name's first field. A loop, because a closure would get a copy of each field. The length
    /// of a name rules out almost all others.
    private func index(of name: HTTPHeaderName, from start: Int = 0) -> Int? {
        let fields = fields.span
        for index in start..<fields.count where fields[index].name == name { return index }
        return nil
    }

    /// Adds a field and keeps existing fields of the name. If one of them is sensitive, all become sensitive.
    public mutating func add(_ name: HTTPHeaderName, _ value: String, sensitive: Bool = false) {
        let first = index(of: name)
        let wasSensitive = first.map { fields[$0].isSensitive } ?? false
        let field = Field(name, value, sensitive: sensitive || wasSensitive)
        if first != nil, field.isSensitive, !wasSensitive { mark(name) }
        fields.append(field)
    }

    /// Replaces all fields of a name with one field, which stays sensitive if one of them was.
    public mutating func set(_ name: HTTPHeaderName, _ value: String, sensitive: Bool = false) {
        guard let first = index(of: name) else {
            return fields.append(Field(name, value, sensitive: sensitive))
        }
        fields[first] = Field(fields[first].name, value, sensitive: sensitive || fields[first].isSensitive)
        guard let second = index(of: name, from: first + 1) else { return }
        fields[second...].removeAll { $0.name == name }
    }

    /// Replaces all fields of the same name with this field, which stays sensitive if one of them was.
    public mutating func set(_ field: Field) {
        guard let first = index(of: field.name) else { return fields.append(field) }
        let new = field.sensitive(field.isSensitive || fields[first].isSensitive)
        remove(field.name)
        fields.insert(new, at: first)
    }

    /// Returns whether a field is the only field of its name, with the same value and sensitivity.
    public func isOnly(_ field: Field) -> Bool {
        guard let first = index(of: field.name), index(of: field.name, from: first + 1) == nil else { return false }
        return fields[first].value.hasSameBytes(as: field.value) && fields[first].isSensitive == field.isSensitive
    }

    /// Removes all fields of a name.
    public mutating func remove(_ name: HTTPHeaderName) { fields.removeAll { $0.name == name } }

    /// Removes the fields for which the closure returns true.
    public mutating func removeAll(where shouldRemove: (Field) -> Bool) { fields.removeAll(where: shouldRemove) }

    /// Replaces the fields of each name in `other`. The new fields are sensitive if an old or new field of the name
    /// was.
    public mutating func merge(_ other: HTTPHeaders) {
        if fields.isEmpty || other.isEmpty { return fields = fields.isEmpty ? other.fields : fields }
        var new = other.fields
        for index in new.indices where !new[index].isSensitive && isSensitive(new[index].name) {
            new[index].isSensitive = true
        }
        for field in new { fields.removeAll { $0.name == field.name } }
        fields += new
    }

    /// Returns the headers with the given names marked as sensitive.
    public func sensitive(_ names: HTTPHeaderName...) -> HTTPHeaders {
        HTTPHeaders(fields.map { $0.sensitive($0.isSensitive || names.contains($0.name)) })
    }

    /// Returns the headers, with the names marked that are sensitive in `other`.
    package func marked(as other: HTTPHeaders) -> HTTPHeaders {
        if other.isEmpty { return self }
        return HTTPHeaders(
            fields.map { $0.sensitive($0.isSensitive || other.isSensitive($0.name)) })
    }

    /// The headers, with valid fields marked as checked, so requests don't check them again.
    package var checked: HTTPHeaders {
        var copy = self
        for index in fields.indices { copy.fields[index] = fields[index].checked }
        return copy
    }

    /// Whether a field is sensitive.
    package var haveSecrets: Bool {
        let fields = fields.span
        for index in fields.indices where fields[index].isSensitive { return true }
        return false
    }

    /// The sensitive fields, in order.
    package var secrets: ContiguousArray<Field> {
        let fields = fields.span
        var secrets: ContiguousArray<Field> = []
        for index in fields.indices where fields[index].isSensitive { secrets.append(fields[index]) }
        return secrets
    }

    /// Returns whether the sensitive fields equal these, in order. Compares them where they are, without copies.
    package func haveSecrets(equalTo known: ContiguousArray<Field>) -> Bool {
        let (fields, known) = (fields.span, known.span)
        var count = 0
        for index in fields.indices where fields[index].isSensitive {
            guard count < known.count, fields[index] == known[count] else { return false }
            count += 1
        }
        return count == known.count
    }

    /// Returns whether the test is true for a value.
    package func haveValue(where test: (String) -> Bool) -> Bool {
        let fields = fields.span
        for index in fields.indices where test(fields[index].value) { return true }
        return false
    }

    /// Replaces the values for which the closure returns another value.
    package mutating func replaceValues(_ replacement: (Field) -> String?) {
        for index in fields.indices {
            if let value = replacement(fields[index]) { fields[index].value = value }
        }
    }

    /// Returns whether a name is sensitive. Its fields all have the same mark.
    private func isSensitive(_ name: HTTPHeaderName) -> Bool { index(of: name).map { fields[$0].isSensitive } ?? false }

    private mutating func mark(_ name: HTTPHeaderName) {
        for index in fields.indices where !fields[index].isSensitive && fields[index].name == name {
            fields[index].isSensitive = true
        }
    }

    /// Marks all fields of a name if one of them is marked.
    private mutating func spreadMarks() {
        for index in fields.indices where fields[index].isSensitive && !fields[index].name.isSensitive {
            mark(fields[index].name)
        }
    }
}

extension HTTPHeaders: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The fields, one per line, with sensitive values masked.
    public var description: String {
        fields.map { "\($0.name): \($0.isSensitive ? "•••" : $0.value)" }.joined(separator: "\n")
    }

    /// The same text as `description`, for debuggers.
    public var debugDescription: String { description }
    /// A mirror without children, so a dump doesn't reveal secrets.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension HTTPHeaders.Field: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The name and the value, which is masked if it's sensitive.
    public var description: String { "\(name): \(isSensitive ? "•••" : value)" }
    /// The same text as `description`, for debuggers.
    public var debugDescription: String { description }
    /// A mirror without children, so a dump doesn't reveal secrets.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension HTTPHeaders {
    /// Returns a date in these fields by this device's clock, which may differ from the server's. The difference is that
    /// between `now` and the response's `Date`. Without a single valid `Date`, and in a response from a cache, which has
    /// an `Age`, both clocks count as equal.
    ///
    /// - Parameters:
    ///   - date: A date by the server's clock, such as an expiry.
    ///   - now: The date on which the response arrived, by this device's clock.
    public func localDate(_ date: Date, now: Date) -> Date {
        guard let theirs = serverDate(now: now) else { return date }
        let difference = now.timeIntervalSince(theirs)
        return abs(difference) < Self.clockTolerance ? date : date + difference
    }

    /// The server's clock as its response tells it: a single valid `Date`. `nil` in a response from a cache, which has
    /// an `Age`.
    package func serverDate(now: Date) -> Date? {
        guard !contains(.age), values(of: .date).count == 1 else { return nil }
        return self[.date].flatMap { HTTPDate.parse($0, now: now) }
    }

    /// The field counts whole seconds, and a response takes time.
    private static let clockTolerance = 5.0

    /// Returns how long the server asks to wait in `Retry-After` (RFC 9110, section 10.2.3): the longest wait of all
    /// valid fields. Returns `nil` if no field is valid or the time has passed. A date counts by the server's clock; see
    /// ``localDate(_:now:)``.
    ///
    /// - Parameters:
    ///   - now: The current date, from which delays and waits are counted.
    ///   - limit: The longest wait to return. Defaults to the limit of ``ErrandMessageSyntax/RetryAfter``, 136 years.
    public func retryAfter(from now: Date, upTo limit: Duration? = nil) -> Duration? {
        let waits = values(of: .retryAfter).compactMap { value -> Duration? in
            switch RetryAfter(parsing: value, now: now) {
            case .date(let date): RetryAfter.date(localDate(date, now: now)).wait(from: now)
            case let other: other?.wait(from: now)
            }
        }
        guard let wait = waits.max(), wait > .zero else { return nil }
        return limit.map { Swift.min(wait, Swift.max($0, .zero)) } ?? wait
    }
}
