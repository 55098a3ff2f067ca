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
    /// A header field.
    public struct Field: Sendable, Hashable {
        /// The field's name.
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

        /// Compares names case-insensitively, values byte by byte, and both marks.
        public static func == (a: Field, b: Field) -> Bool {
            a.name == b.name && a.value.hasSameBytes(as: b.value) && a.isSensitive == b.isSensitive
                && a.isLatin1 == b.isLatin1
        }

        /// Hashes the name and value.
        public func hash(into hasher: inout Hasher) {
            hasher.combine(name)
            hasher.combine(value)
        }

        /// The field, marked as checked if it is valid, so requests that contain it don't check it again.
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
                throw ErrandError(.invalidRequest, "the header name \(name.rawName.debugDescription) is not a token")
            }
            guard Self.isFreeOfControls(value) else {
                throw ErrandError(.invalidRequest, "the value of \(name) contains a control character")
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

    /// Creates an empty collection.
    public init() {}
    /// Creates a collection from fields, in their order.
    public init(_ fields: [Field]) {
        self.fields = ContiguousArray(fields)
        spreadMarks()
    }
    /// Creates a collection from a sequence of fields, in their order.
    public init(_ fields: some Sequence<Field>) { self.init(Array(fields)) }
    /// Creates a collection from a dictionary, sorted by name.
    public init(_ fields: [String: String]) {
        self.init(fields.sorted { $0.key < $1.key }.map { Field(HTTPHeaderName($0.key), $0.value) })
    }
    /// Creates a collection from a literal, in its order.
    public init(dictionaryLiteral elements: (HTTPHeaderName, String)...) {
        // Literals can mark fields only by name, so spreading marks isn't necessary.
        fields = ContiguousArray(elements.map { Field($0.0, $0.1) })
    }

    /// Always 0.
    public var startIndex: Int { 0 }
    /// The number of fields.
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

    /// Returns whether a field of that name exists.
    public func contains(_ name: HTTPHeaderName) -> Bool { index(of: name) != nil }

    /// Returns the position of a name's first field. A loop, because a closure would get a copy of each field.
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
    package var secrets: [Field] {
        let fields = fields.span
        var secrets: [Field] = []
        for index in fields.indices where fields[index].isSensitive { secrets.append(fields[index]) }
        return secrets
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
    /// One line per field, with sensitive values masked.
    public var description: String {
        fields.map { "\($0.name): \($0.isSensitive ? "•••" : $0.value)" }.joined(separator: "\n")
    }

    /// Same as `description`.
    public var debugDescription: String { description }
    /// Empty, to hide secrets.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension HTTPHeaders.Field: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The name and value, with a sensitive value masked.
    public var description: String { "\(name): \(isSensitive ? "•••" : value)" }
    /// Same as `description`.
    public var debugDescription: String { description }
    /// Empty, to hide secrets.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension HTTPHeaders {
    /// Returns how long the server asks to wait in `Retry-After` (RFC 9110, section 10.2.3): the longest wait of all
    /// valid fields. Returns `nil` if no field is valid or the time has passed.
    ///
    /// - Parameters:
    ///   - now: The current date, from which delays and waits are counted.
    ///   - limit: The longest wait to return. Defaults to the limit of ``ErrandMessageSyntax/RetryAfter``, 136 years.
    public func retryAfter(from now: Date, upTo limit: Duration? = nil) -> Duration? {
        let waits = values(of: .retryAfter).compactMap { RetryAfter(parsing: $0, now: now)?.wait(from: now) }
        guard let wait = waits.max(), wait > .zero else { return nil }
        return limit.map { Swift.min(wait, Swift.max($0, .zero)) } ?? wait
    }
}

/// Credentials for the `Authorization` header. Descriptions never show them.
///
/// An agent's credentials are sent only to the origins of its base URLs and to its `trustedOrigins`. A request's
/// credentials go wherever the request goes, except along a redirect to another origin.
public struct Authorization: Sendable, Hashable, CustomStringConvertible, CustomDebugStringConvertible,
    CustomReflectable
{
    /// The header value; `nil` sends no credentials.
    package let value: String?
    private let scheme: String

    /// Returns Basic credentials in UTF-8 (RFC 7617). Basic can't express a user name with a colon: the server reads
    /// what follows its first colon as the beginning of the password.
    public static func basic(user: String, password: String) -> Authorization {
        custom(scheme: "Basic", credentials: Data("\(user):\(password)".utf8).base64EncodedString())
    }

    /// Returns a bearer token (RFC 6750).
    public static func bearer(_ token: String) -> Authorization { custom(scheme: "Bearer", credentials: token) }

    /// Returns credentials for any other scheme (RFC 9110, section 11.4).
    public static func custom(scheme: String, credentials: String) -> Authorization {
        Authorization(value: "\(scheme) \(credentials)", scheme: scheme)
    }

    /// Sends the request without the agent's credentials. A `nil` authorization keeps them.
    ///
    /// ```swift
    /// struct SignIn: Request { var authorization: Authorization? { .omitted } }
    /// ```
    public static let omitted = Authorization(value: nil, scheme: "")

    /// The scheme, with the credentials masked.
    public var description: String { value == nil ? "omitted" : "\(scheme) •••" }
    /// Same as `description`.
    public var debugDescription: String { description }
    /// Empty, to hide secrets.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension HTTPHeaders {
    /// Replaces the credentials, as a sensitive field; ``Authorization/omitted`` removes them.
    public mutating func authorize(_ authorization: Authorization) {
        guard let value = authorization.value else { return remove(.authorization) }
        // Setting an equal value would copy the headers needlessly.
        if values(of: .authorization) != [value] { set(.authorization, value, sensitive: true) }
    }
}
