/// Header fields in the order in which they were added; names compare without case, a name may stand more than once.
///
/// ```swift
/// var headers: HTTPHeaders = ["Accept": "application/json"]
/// headers["X-Trace"] = "7"                          // replaces, nil removes
/// headers.add("Via", "1.1 proxy")                   // keeps what is there
/// headers.set("X-Api-Key", key, sensitive: true)    // never logged, lost on a redirect to another origin
/// ```
///
/// Names and values are checked when a request is sent, not here; see ``HTTPRequest/validate()``.
public struct HTTPHeaders: Sendable, Hashable, ExpressibleByDictionaryLiteral, RandomAccessCollection {
    /// One header field.
    public struct Field: Sendable, Hashable {
        public var name: HTTPHeaderName
        public var value: String
        /// Whether descriptions and logs mask it and a redirect to another origin drops it.
        public var isSensitive: Bool

        /// Makes a field; credentials and cookies are sensitive whatever is said here.
        public init(_ name: HTTPHeaderName, _ value: String, sensitive: Bool = false) {
            self.name = name
            self.value = value
            isSensitive = sensitive || name.isSensitive
        }
    }

    private var fields: [Field] = []

    public init() {}
    public init(_ fields: some Sequence<Field>) { self.fields = Array(fields) }
    public init(dictionaryLiteral elements: (HTTPHeaderName, String)...) {
        fields = elements.map { Field($0.0, $0.1) }
    }

    public var startIndex: Int { 0 }
    public var endIndex: Int { fields.count }
    public subscript(position: Int) -> Field { fields[position] }

    /// The value of a name; several fields are joined by ", " (RFC 9110, section 5.3). Setting replaces all of them and
    /// keeps them sensitive if one was; nil removes them.
    public subscript(name: HTTPHeaderName) -> String? {
        get {
            guard let first = fields.firstIndex(where: { $0.name == name }) else { return nil }
            var value = fields[first].value
            for field in fields[(first + 1)...] where field.name == name { value += ", " + field.value }
            return value
        }
        set {
            guard let newValue else { return remove(name) }
            set(name, newValue, sensitive: fields.contains { $0.name == name && $0.isSensitive })
        }
    }

    /// Every value of a name, in order, one for each field.
    public func values(of name: HTTPHeaderName) -> [String] {
        fields.lazy.filter { $0.name == name }.map(\.value)
    }

    public func contains(_ name: HTTPHeaderName) -> Bool { fields.contains { $0.name == name } }

    /// Adds a field and keeps those of the same name.
    public mutating func add(_ name: HTTPHeaderName, _ value: String, sensitive: Bool = false) {
        fields.append(Field(name, value, sensitive: sensitive))
    }

    /// Puts one field in the place of all of that name.
    public mutating func set(_ name: HTTPHeaderName, _ value: String, sensitive: Bool = false) {
        guard let first = fields.firstIndex(where: { $0.name == name }) else {
            return add(name, value, sensitive: sensitive)
        }
        fields[first] = Field(fields[first].name, value, sensitive: sensitive)
        var index = fields.count - 1
        while index > first {
            if fields[index].name == name { fields.remove(at: index) }
            index -= 1
        }
    }

    public mutating func remove(_ name: HTTPHeaderName) { fields.removeAll { $0.name == name } }

    /// Keeps the fields that pass.
    public mutating func removeAll(where shouldRemove: (Field) -> Bool) { fields.removeAll(where: shouldRemove) }

    /// Replaces by name: each name in `other` loses its old fields and gets the new ones.
    public mutating func merge(_ other: HTTPHeaders) {
        if fields.isEmpty || other.isEmpty { return fields = fields.isEmpty ? other.fields : fields }
        for field in other.fields { fields.removeAll { $0.name == field.name } }
        fields += other.fields
    }

    /// The same headers with those names marked as secrets.
    public func sensitive(_ names: HTTPHeaderName...) -> HTTPHeaders {
        HTTPHeaders(fields.map { Field($0.name, $0.value, sensitive: $0.isSensitive || names.contains($0.name)) })
    }
}

extension HTTPHeaders: CustomStringConvertible, CustomDebugStringConvertible {
    /// A line a field, sensitive values masked.
    public var description: String {
        fields.map { "\($0.name): \($0.isSensitive ? "•••" : $0.value)" }.joined(separator: "\n")
    }

    public var debugDescription: String { description }
}

extension HTTPHeaders.Field: CustomStringConvertible, CustomDebugStringConvertible {
    public var description: String { "\(name): \(isSensitive ? "•••" : value)" }
    public var debugDescription: String { description }
}
