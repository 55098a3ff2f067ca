import ErrandSupport

/// Names the user that a request belongs to, so that a response that is stored or shared for one user never reaches
/// another.
///
/// ```swift
/// var exchange = exchange
/// exchange.belongs(to: UserMark(session.id, source: "session"))
/// ```
///
/// Two requests belong to the same user if they have the same marks. No description shows the identity.
public struct UserMark: Sendable, Hashable {
    /// The source of the identity, such as the name of a header field; shown in logs.
    public let source: String
    /// The user: an id, or a credential. A secret; a store keeps only a keyed hash of it.
    public let identity: String

    /// Makes a mark.
    public init(_ identity: String, source: String) { (self.identity, self.source) = (identity, source) }

    /// Compares byte by byte: users whose names are canonically equivalent are different users.
    public static func == (a: UserMark, b: UserMark) -> Bool {
        a.identity.hasSameBytes(as: b.identity) && a.source.hasSameBytes(as: b.source)
    }
}

extension UserMark: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The source, the identity masked.
    public var description: String { "\(source) \(Redaction.mask)" }
    /// The same as `description`, so that no dump shows more.
    public var debugDescription: String { description }
    /// The source alone.
    public var customMirror: Mirror { Mirror(self, children: ["source": source]) }
}

/// The marks of an exchange: those that filters have set, and the header fields that they replace.
package struct UserMarks: Sendable {
    package var marks: Set<UserMark> = []
    private var carriers: [HTTPHeaders.Field] = []

    package init() {}

    package mutating func insert(_ mark: UserMark, carriedBy fields: [HTTPHeaders.Field]) {
        marks.insert(mark)
        carriers += fields.filter { !carriers.contains($0) }
    }

    /// These marks and others.
    package func union(_ other: UserMarks) -> UserMarks {
        var union = self
        union.marks.formUnion(other.marks)
        union.carriers += other.carriers.filter { !carriers.contains($0) }
        return union
    }

    /// The marks of the header fields that tell users apart by themselves: sensitive ones that no mark replaces. Several
    /// fields of one name are one mark.
    package static func implied(by headers: HTTPHeaders, besides marks: UserMarks?) -> Set<UserMark> {
        var implied: Set<UserMark> = []
        for field in headers where field.isSensitive && marks?.stand(for: field) != true {
            let source = field.name.rawName.lowercased()
            if let known = implied.first(where: { $0.source == source }) {
                implied.remove(known)
                implied.insert(UserMark(known.identity + ", " + field.value, source: source))
            } else if implied.isEmpty {
                // One hash less than an insertion without room.
                implied = [UserMark(field.value, source: source)]
            } else {
                implied.insert(UserMark(field.value, source: source))
            }
        }
        return implied
    }

    /// Whether a mark replaces a field with its value.
    private func stand(for field: HTTPHeaders.Field) -> Bool {
        carriers.contains { $0.name == field.name && $0.value == field.value }
    }
}
