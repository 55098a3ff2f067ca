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
/// Sensitivity belongs to the name. While a name has a sensitive field, every field that you add under the name is
/// sensitive too. Remove all fields of the name to end this.
///
/// Sending a request checks names and values. See ``HTTPRequest/validate()``.
public struct HTTPHeaders: Sendable, Hashable, ExpressibleByDictionaryLiteral, RandomAccessCollection {
    /// One header field: a name, a value, and whether the value is a secret.
    public struct Field: Sendable, Hashable {
        /// The name.
        public var name: HTTPHeaderName {
            didSet {
                isChecked = false
                if name.isSensitive { isSensitive = true }
            }
        }
        /// The value, without surrounding white space.
        public var value: String { didSet { isChecked = false } }
        /// Whether descriptions and logs mask the value, and a redirect to another origin drops the field. Always true
        /// for credentials and cookies.
        public var isSensitive: Bool {
            didSet { if !isSensitive, name.isSensitive { isSensitive = true } }
        }
        /// Whether the value is sent as Latin-1 instead of UTF-8. A transport sets it for a received value, so you can
        /// send the value back unchanged. Defaults to false.
        public var isLatin1 = false
        fileprivate var isChecked = false

        /// Creates a field. Credentials and cookies are always sensitive.
        public init(_ name: HTTPHeaderName, _ value: String, sensitive: Bool = false) {
            self.name = name
            self.value = value
            isSensitive = sensitive || name.isSensitive
        }

        /// Compares the name without case, the value's bytes, and both flags.
        public static func == (a: Field, b: Field) -> Bool {
            a.hasSameText(as: b) && a.isSensitive == b.isSensitive && a.isLatin1 == b.isLatin1
        }

        /// Returns whether two fields have the same name and value. Ignores the flags.
        func hasSameText(as other: Field) -> Bool {
            name == other.name && value.hasSameBytes(as: other.value)
        }

        /// Hashes the name and value.
        public func hash(into hasher: inout Hasher) {
            hasher.combine(name)
            hasher.combine(value)
        }

        /// A copy that is already checked, if it's valid. Requests don't check it again.
        public var checked: Field {
            var copy = self
            copy.isChecked = (try? check()) != nil
            return copy
        }

        /// Checks the name and the value (RFC 9110, sections 5.1 and 5.5).
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

        private static func isFreeOfControls(_ text: String) -> Bool {
            text.withSpan { bytes in
                // Without branches, the compiler can vectorize the loop.
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
    /// Creates headers from a literal, in its order. A name can occur more than once.
    public init(dictionaryLiteral elements: (HTTPHeaderName, String)...) {
        // A literal's field is sensitive only if its name is.
        fields = ContiguousArray(elements.map { Field($0.0, $0.1) })
    }

    /// Always 0.
    public var startIndex: Int { 0 }
    /// The number of fields.
    public var endIndex: Int { fields.count }
    /// Returns the field at a position.
    public subscript(position: Int) -> Field { fields[position] }

    /// The value of a name. Several fields of the name are joined with ", " (RFC 9110, section 5.3), or with "; " for
    /// `Cookie` (RFC 9113, section 8.2.3).
    ///
    /// Setting a value replaces all fields of the name, and keeps the name sensitive. Setting `nil` removes the fields.
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

    /// Returns a name's values in order, one per field.
    public func values(of name: HTTPHeaderName) -> [String] {
        contains(name) ? fields.lazy.filter { $0.name == name }.map(\.value) : []
    }

    /// Returns whether there's a field of that name.
    public func contains(_ name: HTTPHeaderName) -> Bool { index(of: name) != nil }

    /// Returns the position of the first field with this name. Uses a loop, because a closure would get a copy of each
    /// field.
    private func index(of name: HTTPHeaderName, from start: Int = 0) -> Int? {
        let fields = fields.span
        for index in start..<fields.count where fields[index].name == name { return index }
        return nil
    }

    /// Adds a field. If the name already has a sensitive field, or this field is sensitive, all fields of the name
    /// become sensitive.
    public mutating func add(_ name: HTTPHeaderName, _ value: String, sensitive: Bool = false) {
        let first = index(of: name)
        let wasSensitive = first.map { fields[$0].isSensitive } ?? false
        let field = Field(name, value, sensitive: sensitive || wasSensitive)
        if first != nil, field.isSensitive, !wasSensitive { mark(name) }
        fields.append(field)
    }

    /// Replaces all fields of a name with one field. The new field is sensitive if one of the old fields was.
    public mutating func set(_ name: HTTPHeaderName, _ value: String, sensitive: Bool = false) {
        guard let first = index(of: name) else {
            return fields.append(Field(name, value, sensitive: sensitive))
        }
        fields[first] = Field(fields[first].name, value, sensitive: sensitive || fields[first].isSensitive)
        guard let second = index(of: name, from: first + 1) else { return }
        fields[second...].removeAll { $0.name == name }
    }

    /// Replaces all fields of the same name with this field. The new field is sensitive if one of the old fields was.
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

    /// Replaces the fields of each name in `other`. A name's new fields are sensitive if one of its old or new fields
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

    /// Returns the headers with these names marked as sensitive.
    public func sensitive(_ names: HTTPHeaderName...) -> HTTPHeaders {
        HTTPHeaders(fields.map { $0.sensitive($0.isSensitive || names.contains($0.name)) })
    }

    package func marked(as other: HTTPHeaders) -> HTTPHeaders {
        if other.isEmpty { return self }
        return HTTPHeaders(
            fields.map { $0.sensitive($0.isSensitive || other.isSensitive($0.name)) })
    }

    package var checked: HTTPHeaders {
        var copy = self
        for index in fields.indices { copy.fields[index] = fields[index].checked }
        return copy
    }

    package var haveSecrets: Bool {
        let fields = fields.span
        for index in fields.indices where fields[index].isSensitive { return true }
        return false
    }

    /// The sensitive fields, to compare the next message's fields with them.
    package struct Secrets: Sendable {
        package fileprivate(set) var fields: ContiguousArray<Field> = []
        /// Whether the names and values consist of ASCII.
        fileprivate var areASCII = true

        package init() {}
    }

    package var secrets: Secrets {
        let fields = fields.span
        var secrets = Secrets()
        for index in fields.indices where fields[index].isSensitive { secrets.fields.append(fields[index]) }
        secrets.areASCII = secrets.fields.allSatisfy { $0.name.rawName.isASCII && $0.value.isASCII }
        return secrets
    }

    func unmarkedFields(where test: (HTTPHeaderName) -> Bool) -> ContiguousArray<Field> {
        let fields = fields.span
        var chosen: ContiguousArray<Field> = []
        for index in fields.indices where !fields[index].isSensitive && test(fields[index].name) {
            chosen.append(fields[index])
        }
        return chosen
    }

    /// Returns whether the sensitive fields are equal to known fields. Compares them in place, without copies.
    package func haveSecrets(equalTo known: Secrets) -> Bool {
        let (fields, secrets) = (fields.span, known.fields.span)
        var count = 0
        for index in fields.indices where fields[index].isSensitive {
            guard count < secrets.count else { return false }
            // Consecutive messages mostly have copies of the same secrets.
            let isCopy =
                known.areASCII && fields[index].value.hasSameBytes(asASCII: secrets[count].value)
                && fields[index].name.rawName.hasSameBytes(asASCII: secrets[count].name.rawName)
                && fields[index].isLatin1 == secrets[count].isLatin1
            guard isCopy || fields[index] == secrets[count] else { return false }
            count += 1
        }
        return count == secrets.count
    }

    func haveValue(where test: (String) -> Bool) -> Bool {
        let fields = fields.span
        for index in fields.indices where test(fields[index].value) { return true }
        return false
    }

    mutating func replaceValues(_ replacement: (Field) -> String?) {
        for index in fields.indices {
            if let value = replacement(fields[index]) { fields[index].value = value }
        }
    }

    private func isSensitive(_ name: HTTPHeaderName) -> Bool { index(of: name).map { fields[$0].isSensitive } ?? false }

    private mutating func mark(_ name: HTTPHeaderName) {
        for index in fields.indices where !fields[index].isSensitive && fields[index].name == name {
            fields[index].isSensitive = true
        }
    }

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

    /// Returns `description`.
    public var debugDescription: String { description }
    /// A mirror without children, so a dump doesn't reveal secrets.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension HTTPHeaders.Field: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The name and the value. The value is masked if it's sensitive.
    public var description: String { "\(name): \(isSensitive ? "•••" : value)" }
    /// Returns `description`.
    public var debugDescription: String { description }
    /// A mirror without children, so a dump doesn't reveal secrets.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension HTTPHeaders {
    /// Converts a date from the server's clock to this device's clock: adds the difference between `now` and the
    /// response's `Date` header. Returns the date unchanged:
    ///
    /// - if the difference is less than 5 seconds
    /// - if there isn't exactly one valid `Date`
    /// - if the response has an `Age`, because it comes from a cache
    ///
    /// - Parameters:
    ///   - date: A date by the server's clock, such as an expiry.
    ///   - now: When the response arrived, by this device's clock.
    public func localDate(_ date: Date, now: Date) -> Date {
        guard let theirs = serverDate(now: now) else { return date }
        let difference = now.timeIntervalSince(theirs)
        return abs(difference) < Self.clockTolerance ? date : date + difference
    }

    package func serverDate(now: Date) -> Date? {
        guard !contains(.age), values(of: .date).count == 1 else { return nil }
        return self[.date].flatMap { HTTPDate.parse($0, now: now) }
    }

    /// The smallest difference between two clocks to correct, in seconds. A `Date` doesn't contain fractions, and a
    /// response takes time to arrive.
    private static let clockTolerance = 5.0

    /// Returns how long the response's `Retry-After` fields ask to wait (RFC 9110, section 10.2.3), or `nil` if they
    /// don't. Of several valid fields, the longest wait counts. A date is converted with ``localDate(_:now:)``.
    ///
    /// - Parameters:
    ///   - now: The current date.
    ///   - limit: The longest wait to return. Defaults to 136 years.
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
