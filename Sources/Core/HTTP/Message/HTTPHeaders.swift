public import ErrandEssentials
import ErrandMessageSyntax
import ErrandSupport

/// Header fields in the order in which they were added; names compare without case, and a name may occur more than
/// once.
///
/// ```swift
/// var headers: HTTPHeaders = ["Accept": "application/json"]
/// headers["X-Trace"] = "7"                          // replaces, nil removes
/// headers.add("Via", "1.1 proxy")                   // keeps what is there
/// headers.set("X-Api-Key", key, sensitive: true)    // never logged, lost on a redirect to another origin
/// ```
///
/// A mark as sensitive belongs to the name: while a field of that name exists, every method that adds, sets, replaces
/// or merges one keeps the mark. Only removing the name removes it.
///
/// Names and values are checked when a request is sent, not here; see ``HTTPRequest/validate()``.
public struct HTTPHeaders: Sendable, Hashable, ExpressibleByDictionaryLiteral, RandomAccessCollection {
    /// One header field.
    public struct Field: Sendable, Hashable {
        /// The name.
        public var name: HTTPHeaderName {
            didSet {
                isChecked = false
                if name.isSensitive { isSensitive = true }
            }
        }
        /// The value, without white space at its ends.
        public var value: String { didSet { isChecked = false } }
        /// Whether descriptions and logs mask the value and a redirect to another origin drops the field. Stays true
        /// for credentials and cookies.
        public var isSensitive: Bool {
            didSet { if !isSensitive, name.isSensitive { isSensitive = true } }
        }
        /// Whether the bytes on the wire are Latin-1 and not UTF-8: set by a transport for a value that it received so,
        /// and kept when the value is sent back, as an entity tag is. False by default.
        public var isLatin1 = false
        /// Whether name and value are known to be valid.
        fileprivate var isChecked = false

        /// Makes a field; credentials and cookies are sensitive whatever the argument says.
        public init(_ name: HTTPHeaderName, _ value: String, sensitive: Bool = false) {
            self.name = name
            self.value = value
            isSensitive = sensitive || name.isSensitive
        }

        /// Whether name, value, byte by byte, and marks are the same; the case of the name does not matter.
        public static func == (a: Field, b: Field) -> Bool {
            a.name == b.name && a.value.hasSameBytes(as: b.value) && a.isSensitive == b.isSensitive
                && a.isLatin1 == b.isLatin1
        }

        /// Hashes name and value.
        public func hash(into hasher: inout Hasher) {
            hasher.combine(name)
            hasher.combine(value)
        }

        /// The same field, marked as valid if it is, so that no request that it is set in checks it again.
        public var checked: Field {
            var copy = self
            copy.isChecked = (try? check()) != nil
            return copy
        }

        /// Throws unless the name is a token and the value free of control characters (RFC 9110, sections 5.1 and 5.5).
        func check() throws {
            if isChecked { return }
            guard name.isValid else {
                throw ErrandError(.invalidRequest, "the header name \(name.rawName.debugDescription) is not a token")
            }
            guard Self.isFreeOfControls(value) else {
                throw ErrandError(.invalidRequest, "the value of \(name) has a control character")
            }
        }

        /// Whether no byte is a control character but the tab.
        private static func isFreeOfControls(_ text: String) -> Bool {
            text.withSpan { bytes in
                // All bytes, without a branch: the compiler then takes many at a time.
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

    private var fields: [Field] = []

    /// No fields.
    public init() {}
    /// Fields in their order.
    public init(_ fields: [Field]) {
        self.fields = fields
        spreadMarks()
    }
    /// Fields in their order.
    public init(_ fields: some Sequence<Field>) { self.init(Array(fields)) }
    /// The fields of a dictionary, in the order of their names.
    public init(_ fields: [String: String]) {
        self.init(fields.sorted { $0.key < $1.key }.map { Field(HTTPHeaderName($0.key), $0.value) })
    }
    /// Fields in the order of the literal.
    public init(dictionaryLiteral elements: (HTTPHeaderName, String)...) {
        // Literals carry no marks but those of the names themselves.
        fields = elements.map { Field($0.0, $0.1) }
    }

    /// Zero.
    public var startIndex: Int { 0 }
    /// The number of fields.
    public var endIndex: Int { fields.count }
    /// The field at a position.
    public subscript(position: Int) -> Field { fields[position] }

    /// The value of a name; several fields are joined by ", " (RFC 9110, section 5.3), those of `Cookie` by "; " (RFC
    /// 9113, section 8.2.3). Setting replaces all of them and keeps them sensitive if one was; nil removes them and
    /// their mark.
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

    /// The values of a name, in order, one for each field.
    public func values(of name: HTTPHeaderName) -> [String] {
        contains(name) ? fields.lazy.filter { $0.name == name }.map(\.value) : []
    }

    /// Whether a field of that name exists.
    public func contains(_ name: HTTPHeaderName) -> Bool { index(of: name) != nil }

    /// The position of the first field of a name. In place: a closure would be given a copy of each field.
    private func index(of name: HTTPHeaderName, from start: Int = 0) -> Int? {
        let fields = fields.span
        for index in start..<fields.count where fields[index].name == name { return index }
        return nil
    }

    /// Adds a field and keeps those of the same name; if one of them is sensitive, all become so.
    public mutating func add(_ name: HTTPHeaderName, _ value: String, sensitive: Bool = false) {
        let first = index(of: name)
        let wasSensitive = first.map { fields[$0].isSensitive } ?? false
        let field = Field(name, value, sensitive: sensitive || wasSensitive)
        if first != nil, field.isSensitive, !wasSensitive { mark(name) }
        fields.append(field)
    }

    /// Replaces all fields of a name by one, which is sensitive if one of them was.
    public mutating func set(_ name: HTTPHeaderName, _ value: String, sensitive: Bool = false) {
        guard let first = index(of: name) else {
            return fields.append(Field(name, value, sensitive: sensitive))
        }
        fields[first] = Field(fields[first].name, value, sensitive: sensitive || fields[first].isSensitive)
        guard let second = index(of: name, from: first + 1) else { return }
        fields[second...].removeAll { $0.name == name }
    }

    /// Replaces all fields of the name of a field by that one, which is sensitive if it, or one of them, was.
    public mutating func set(_ field: Field) {
        guard let first = index(of: field.name) else { return fields.append(field) }
        let new = field.sensitive(field.isSensitive || fields[first].isSensitive)
        remove(field.name)
        fields.insert(new, at: first)
    }

    /// Whether a field is the only one of its name, with the same value and mark.
    public func isOnly(_ field: Field) -> Bool {
        guard let first = index(of: field.name), index(of: field.name, from: first + 1) == nil else { return false }
        return fields[first].value.hasSameBytes(as: field.value) && fields[first].isSensitive == field.isSensitive
    }

    /// Removes all fields of a name.
    public mutating func remove(_ name: HTTPHeaderName) { fields.removeAll { $0.name == name } }

    /// Removes the fields for which the closure returns true.
    public mutating func removeAll(where shouldRemove: (Field) -> Bool) { fields.removeAll(where: shouldRemove) }

    /// Replaces by name: each name in `other` loses its old fields and gets the new ones, which are sensitive if one of
    /// either was.
    public mutating func merge(_ other: HTTPHeaders) {
        if fields.isEmpty || other.isEmpty { return fields = fields.isEmpty ? other.fields : fields }
        var new = other.fields
        for index in new.indices where !new[index].isSensitive && isSensitive(new[index].name) {
            new[index].isSensitive = true
        }
        for field in new { fields.removeAll { $0.name == field.name } }
        fields += new
    }

    /// The same headers with those names marked as secrets.
    public func sensitive(_ names: HTTPHeaderName...) -> HTTPHeaders {
        HTTPHeaders(fields.map { $0.sensitive($0.isSensitive || names.contains($0.name)) })
    }

    /// The same headers, with the names marked that are sensitive in `other`.
    package func marked(as other: HTTPHeaders) -> HTTPHeaders {
        if other.isEmpty { return self }
        return HTTPHeaders(
            fields.map { $0.sensitive($0.isSensitive || other.isSensitive($0.name)) })
    }

    /// The same headers, with valid fields marked as checked, so that a request need not check them again.
    package var checked: HTTPHeaders {
        var copy = self
        for index in fields.indices { copy.fields[index] = fields[index].checked }
        return copy
    }

    /// Whether the fields of a name are sensitive: all are, or none is.
    private func isSensitive(_ name: HTTPHeaderName) -> Bool { index(of: name).map { fields[$0].isSensitive } ?? false }

    private mutating func mark(_ name: HTTPHeaderName) {
        for index in fields.indices where !fields[index].isSensitive && fields[index].name == name {
            fields[index].isSensitive = true
        }
    }

    /// Marks all fields of a name as one of them is marked.
    private mutating func spreadMarks() {
        for index in fields.indices where fields[index].isSensitive && !fields[index].name.isSensitive {
            mark(fields[index].name)
        }
    }
}

extension HTTPHeaders: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// A line a field, sensitive values masked.
    public var description: String {
        fields.map { "\($0.name): \($0.isSensitive ? "•••" : $0.value)" }.joined(separator: "\n")
    }

    /// The same as `description`, so that no dump shows more.
    public var debugDescription: String { description }
    /// Empty: children would show what the description masks.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension HTTPHeaders.Field: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Name and value, a sensitive value masked.
    public var description: String { "\(name): \(isSensitive ? "•••" : value)" }
    /// The same as `description`, so that no dump shows more.
    public var debugDescription: String { description }
    /// Empty: children would show what the description masks.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension HTTPHeaders {
    /// The wait that a server asks for by `Retry-After` (RFC 9110, section 10.2.3): the longest of all valid fields;
    /// nil for none, and for a time that has passed.
    ///
    /// - Parameters:
    ///   - now: the time from which a delay counts, and from which the wait until a date is measured.
    ///   - limit: a longer wait counts as this; by default the 136 years of ``ErrandMessageSyntax/RetryAfter``.
    public func retryAfter(from now: Date, upTo limit: Duration? = nil) -> Duration? {
        let waits = values(of: .retryAfter).compactMap { RetryAfter(parsing: $0, now: now)?.wait(from: now) }
        guard let wait = waits.max(), wait > .zero else { return nil }
        return limit.map { Swift.min(wait, Swift.max($0, .zero)) } ?? wait
    }
}
