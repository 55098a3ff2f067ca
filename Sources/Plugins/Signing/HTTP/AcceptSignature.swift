import ErrandEssentials
import ErrandHTTP
import ErrandHTTPFields

/// The content of an `Accept-Signature` field: the signatures that a message asks for (RFC 9421, section 5).
///
/// ```swift
/// let wanted = try AcceptSignature([.init(label: "sig", components: [.status, "content-digest"], keyID: "server")])
/// let filter = SignatureVerificationFilter.verifyingSignatures(by: verifier, accepting: wanted)
/// ```
public struct AcceptSignature: Sendable, Hashable {
    /// A signature that a message asks for.
    public struct Entry: Sendable, Hashable {
        /// The label for the signature.
        public let label: String
        /// The components to cover.
        public let components: [SignatureComponent]
        let parameters: StructuredField.Parameters

        init(label: String, components: [SignatureComponent], parameters: StructuredField.Parameters) {
            (self.label, self.components, self.parameters) = (label, components, parameters)
        }

        /// Creates an entry. If a parameter is nil, which is the default, the signer decides.
        public init(
            label: String, components: [SignatureComponent], keyID: String? = nil, nonce: String? = nil,
            tag: String? = nil
        ) {
            var parameters: StructuredField.Parameters = ["created": .boolean(true)]
            if let keyID { parameters["keyid"] = .string(keyID) }
            if let nonce { parameters["nonce"] = .string(nonce) }
            if let tag { parameters["tag"] = .string(tag) }
            self.init(label: label, components: components, parameters: parameters)
        }

        /// The ID of the key. Nil if the signer decides.
        public var keyID: String? { parameters["keyid"]?.text }
        /// The nonce. Nil if the signer decides.
        public var nonce: String? { parameters["nonce"]?.text }
        /// The algorithm's name. Nil if the signer decides.
        public var algorithm: String? { parameters["alg"]?.text }
        /// The tag. Nil if the signer decides.
        public var tag: String? { parameters["tag"]?.text }
        var wantsExpiry: Bool { parameters["expires"]?.boolean == true }
        var wantsAlgorithm: Bool { parameters["alg"] != nil }
    }

    /// The signatures, in the field's order.
    public let entries: [Entry]
    /// The text of the field.
    public let fieldValue: String

    /// The maximum number of signatures in a field. The limit prevents attacks, because each signature takes time.
    private static let maximumEntries = 16

    /// Creates a field. Throws ``SigningError`` if a component, label or parameter is invalid.
    public init(_ entries: [Entry]) throws {
        var fields = StructuredField.Dictionary()
        for entry in entries {
            for component in entry.components { try component.validate() }
            fields[entry.label] = .innerList(
                StructuredField.InnerList(entry.components.map(\.item), parameters: entry.parameters))
        }
        self.entries = entries
        do { fieldValue = try fields.serialized() } catch {
            throw SigningError(.invalidOptions, "an entry of Accept-Signature can't be written: \(error)")
        }
    }

    /// Parses a field. Throws ``SigningError`` if it's malformed.
    public init(parsing text: String) throws {
        guard let fields = try? StructuredField.Dictionary(parsing: text), fields.entries.count <= Self.maximumEntries
        else { throw SigningError(.malformedSignature, "the Accept-Signature field is malformed") }
        fieldValue = text
        entries = try fields.entries.map { field in
            guard let list = field.member.innerList else {
                throw SigningError(.malformedSignature, "a member of Accept-Signature isn't a list of components")
            }
            let components = try list.items.map { item in
                guard case .string(let name) = item.value else {
                    throw SigningError(.malformedSignature, "a component's name isn't a string")
                }
                let component = SignatureComponent(name: name, parameters: item.parameters)
                try component.validate()
                return component
            }
            guard Set(components).count == components.count else {
                throw SigningError(.malformedSignature, "Accept-Signature names a component twice")
            }
            return Entry(label: field.key, components: components, parameters: list.parameters)
        }
    }
}
