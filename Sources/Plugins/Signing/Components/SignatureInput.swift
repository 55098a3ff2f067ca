public import ErrandEssentials
import ErrandHTTP
public import ErrandHTTPFields

/// The components that a signature covers, and the signature's parameters: a member of `Signature-Input` (RFC 9421,
/// section 2.3).
public struct SignatureInput: Sendable, Hashable {
    /// The components, in order. Each occurs once.
    public let components: [SignatureComponent]
    /// All parameters in order. The signature also covers unknown parameters.
    public let parameters: StructuredField.Parameters

    /// The maximum number of components in a message's signature. The limit prevents attacks, because each component
    /// takes time.
    private static let maximumComponents = 256

    init(_ components: [SignatureComponent], _ parameters: StructuredField.Parameters) throws {
        guard components.count <= Self.maximumComponents else {
            throw SigningError(.malformedSignature, "a signature covers more than \(Self.maximumComponents) components")
        }
        var seen: Set<SignatureComponent> = []
        for component in components {
            try component.validate()
            guard seen.insert(component).inserted else {
                throw SigningError(.invalidComponent, "\(component) occurs twice")
            }
        }
        for name in ["created", "expires"] {
            guard parameters[name].map({ $0.integer != nil }) ?? true else {
                throw SigningError(.malformedSignature, "the parameter \"\(name)\" isn't an integer")
            }
        }
        for name in ["nonce", "alg", "keyid", "tag"] {
            guard let value = parameters[name] else { continue }
            guard case .string = value else {
                throw SigningError(.malformedSignature, "the parameter \"\(name)\" isn't a string")
            }
        }
        (self.components, self.parameters) = (components, parameters)
    }

    init(_ member: StructuredField.Member?) throws {
        guard let list = member?.innerList else {
            throw SigningError(.malformedSignature, "a member of Signature-Input isn't a list of components")
        }
        let components = try list.items.map { item in
            guard case .string(let name) = item.value else {
                throw SigningError(.malformedSignature, "a component's name isn't a string")
            }
            return SignatureComponent(name: name, parameters: item.parameters)
        }
        try self.init(components, list.parameters)
    }

    /// The creation date (`created`), if the signature has one.
    public var created: Date? { parameters["created"]?.integer.map { Date(timeIntervalSince1970: Double($0)) } }
    /// The expiry date (`expires`), if the signature has one.
    public var expires: Date? { parameters["expires"]?.integer.map { Date(timeIntervalSince1970: Double($0)) } }
    /// The `nonce`, which is different in each signature. Nil if the signature doesn't have a nonce.
    public var nonce: String? { parameters["nonce"]?.text }
    /// The algorithm's name (`alg`). Nil if the key determines it.
    public var algorithm: String? { parameters["alg"]?.text }
    /// The key's ID (`keyid`), if the signature has one.
    public var keyID: String? { parameters["keyid"]?.text }
    /// The application that the signature is for (`tag`), if the signature has one.
    public var tag: String? { parameters["tag"]?.text }

    var list: StructuredField.InnerList {
        StructuredField.InnerList(components.map(\.item), parameters: parameters)
    }

    /// Returns the bytes to sign (RFC 9421, section 2.5). Throws ``SigningError`` if the message lacks a component, or
    /// if a value can't be signed.
    public func signatureBase(of message: SignableMessage) throws -> Data {
        var base = ""
        for component in components { base += "\(component): \(try message.value(of: component))\n" }
        do { base += "\"@signature-params\": \(try list.serialized())" } catch {
            throw SigningError(.invalidValue, "a parameter of the signature can't be written: \(error)")
        }
        return Data(base.utf8)
    }
}

extension SignatureComponent {
    func validate() throws {
        func fail(_ reason: String) -> SigningError { SigningError(.invalidComponent, "\(self): \(reason)") }
        guard (try? item.serialized()) != nil else {
            throw SigningError(.invalidComponent, "the name or a parameter of a component isn't printable ASCII")
        }
        guard Self.lowercased(name) == name else { throw fail("the name isn't in lower case") }
        for (key, value) in parameters.all {
            switch key {
            case "sf", "bs", "tr", "req":
                guard value == .boolean(true) else { throw fail("the parameter \"\(key)\" can't have a value") }
            case "key", "name":
                guard case .string = value else { throw fail("the parameter \"\(key)\" isn't a string") }
            default: throw fail("the parameter \"\(key)\" is unknown")
            }
        }
        let keys = Set(parameters.all.map(\.key))
        guard isDerived else {
            guard HTTPHeaderName(name).isValid else { throw fail("the name isn't a valid field name") }
            guard !keys.contains("name") else { throw fail("the parameter \"name\" is only for query parameters") }
            guard !keys.contains("bs") || keys.isDisjoint(with: ["sf", "key"]) else {
                throw fail("\"bs\" can't be combined with \"sf\" or \"key\"")
            }
            return
        }
        switch name {
        case "@query-param":
            guard keys.contains("name"), keys.isSubset(of: ["name", "req"]) else {
                throw fail("it must have the parameter \"name\", and can't have others except \"req\"")
            }
        case "@status": guard keys.isEmpty else { throw fail("it can't have parameters") }
        case "@method", "@target-uri", "@authority", "@scheme", "@request-target", "@path", "@query":
            guard keys.isSubset(of: ["req"]) else { throw fail("it can't have parameters except \"req\"") }
        default: throw fail("the derived component is unknown")
        }
    }
}
