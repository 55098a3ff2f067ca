public import Errand
import ErrandHTTPSyntax
import ErrandSupport

public import ErrandEssentials

/// What a signature can be made of: one request as it is when it is signed.
public struct SigningInput: Sendable {
    /// A parameter, decoded. Nil is a name without a value.
    public typealias Parameter = (name: String, value: String?)

    /// The method.
    public let method: HTTPMethod
    /// The URL's path, percent-encoded.
    public let path: String
    /// The items of the query, then those of a form or the members of a JSON object, in order; the timestamp last. What
    /// the signature itself is called is left out. A JSON value that is no string is its JSON text.
    public let parameters: [Parameter]
    /// The body's bytes; nil for one that is not in memory.
    public let body: Data?
    /// Seconds since 1970, by the agent's clock; empty if the signer has no timestamp.
    public let timestamp: String
    /// The exchange, for its request, tags and service.
    public let exchange: Exchange

    /// The parameters by name, then by value, as one text: `a=1&b=2%203`.
    ///
    /// Names and values are encoded anew, all but the unreserved characters, and sorted once encoded, byte by byte, as in
    /// RFC 5849, section 3.4.1.3.2: so a value that holds `&b=` is no second parameter, and whoever reads the request in
    /// another order or encoding comes to the same text. A name without a value has an empty one.
    public var sortedParameters: String {
        let pairs = parameters.map { (Self.encode($0.name), Self.encode($0.value ?? "")) }
        let sorted = pairs.sorted { $0.0 == $1.0 ? Self.precedes($0.1, $1.1) : Self.precedes($0.0, $1.0) }
        return sorted.map { $0.0 + "=" + $0.1 }.joined(separator: "&")
    }

    /// The same without encoding, for services that sign plain text: `a=1&b=2 3`. Two requests may have the same.
    public var plainSortedParameters: String {
        let sorted = parameters.map { ($0.name, $0.value ?? "") }.sorted {
            $0.0 == $1.0 ? Self.precedes($0.1, $1.1) : Self.precedes($0.0, $1.0)
        }
        return sorted.map { $0.0 + "=" + $0.1 }.joined(separator: "&")
    }

    /// Method, path, sorted parameters and the body's SHA-256, a line each: all that the request says but its headers.
    /// Throws ``URLFilterError/Code/body`` for a body that is not in memory.
    public func wholeRequest() throws -> String {
        guard let body else {
            throw URLFilterError(.body, filter: filter, "a body that is not in memory cannot be signed")
        }
        let digest = Hexadecimal.text(SHA256Digest.digest(of: body))
        return "\(method)\n\(path)\n\(sortedParameters)\n\(digest)"
    }

    let filter: String

    /// By bytes, so that the order is the same everywhere.
    private static func precedes(_ a: String, _ b: String) -> Bool { a.utf8.lexicographicallyPrecedes(b.utf8) }

    private static func encode(_ text: String) -> String {
        var result = ""
        PercentEncoding.encode(text, into: &result, allowed: ASCII.isUnreserved)
        return result
    }
}

extension SigningInput: CustomStringConvertible, CustomReflectable {
    /// The method alone, since paths, parameters and bodies may be secret.
    public var description: String { "\(method), to be signed" }
    /// Nothing, for the same reason.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
