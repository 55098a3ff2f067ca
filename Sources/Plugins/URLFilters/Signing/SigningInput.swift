public import Errand
import ErrandDigests
public import ErrandEssentials
import ErrandMessageSyntax
import ErrandSupport

/// The request at the time when it is signed.
public struct SigningInput: Sendable {
    /// A decoded parameter; the value is nil for a name without one.
    public typealias Parameter = (name: String, value: String?)

    /// The method.
    public let method: HTTPMethod
    /// The URL's path, percent-encoded.
    public let path: String
    /// The items of the query, then those of a form or the members of a JSON object, in order; the timestamp last. The
    /// parameter of the signature itself is left out. A JSON value that is not a string is its JSON text.
    public let parameters: [Parameter]
    /// The bytes of the body; nil for a body that is not in memory.
    public let body: Data?
    /// Seconds since 1970, by the agent's time source; empty if the signer has no timestamp.
    public let timestamp: String
    /// The exchange, for its request, tags and service.
    public let exchange: Exchange

    /// The parameters by name, then by value, as one text: `a=1&b=2%203`.
    ///
    /// Names and values are percent-encoded except for the unreserved characters, then sorted byte by byte (RFC 5849,
    /// section 3.4.1.3.2). A value that contains `&b=` is not a second parameter, and a server computes the same text for
    /// another order or encoding. A name without a value has an empty one.
    public var sortedParameters: String {
        let pairs = parameters.map { (Self.encode($0.name), Self.encode($0.value ?? "")) }
        let sorted = pairs.sorted { $0.0 == $1.0 ? Self.precedes($0.1, $1.1) : Self.precedes($0.0, $1.0) }
        return sorted.map { $0.0 + "=" + $0.1 }.joined(separator: "&")
    }

    /// The same without encoding, for services that sign plain text: `a=1&b=2 3`. Different requests may have equal texts.
    public var plainSortedParameters: String {
        let sorted = parameters.map { ($0.name, $0.value ?? "") }.sorted {
            $0.0 == $1.0 ? Self.precedes($0.1, $1.1) : Self.precedes($0.0, $1.0)
        }
        return sorted.map { $0.0 + "=" + $0.1 }.joined(separator: "&")
    }

    /// Method, path, sorted parameters and the SHA-256 digest of the body, a line each: the request without its headers.
    /// Throws ``URLFilterError/Code/invalidBody`` for a body that is not in memory.
    public func wholeRequest() throws -> String {
        guard let body else {
            throw URLFilterError(.invalidBody, filter: filter, "a body that is not in memory cannot be signed")
        }
        let digest = Hexadecimal.text(SHA256Digest.digest(of: body))
        return "\(method)\n\(path)\n\(sortedParameters)\n\(digest)"
    }

    let filter: String

    /// Compares bytes, so that the order does not depend on a locale.
    private static func precedes(_ a: String, _ b: String) -> Bool { a.utf8.lexicographicallyPrecedes(b.utf8) }

    private static func encode(_ text: String) -> String {
        PercentEncoding.encode(text)
    }
}

extension SigningInput: CustomStringConvertible, CustomReflectable {
    /// The method only, since paths, parameters and bodies may be secret.
    public var description: String { "\(method), to be signed" }
    /// No children, for the same reason.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
