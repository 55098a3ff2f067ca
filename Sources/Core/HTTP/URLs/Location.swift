public import ErrandEssentials
public import ErrandMessageSyntax

/// The `Location` of a response (RFC 9110, section 10.2.2).
package enum Location {
    /// Resolves a `Location` against the URL of the response. Its fragment falls back to that URL's; credentials in it are
    /// dropped.
    package static func resolve(_ field: HTTPHeaders.Field, from url: URL) throws(URLSyntax.Fault) -> URL {
        // A browser that gets none shows the response.
        if field.value.isEmpty { throw URLSyntax.Fault(description: "the Location is empty") }
        do { return try field.reference.redirectURL(from: url) } catch {
            throw URLSyntax.Fault(
                description: "the Location \(URLSyntax.quoted(field.value)) cannot be requested: \(error.description)")
        }
    }
}

extension HTTPHeaders {
    /// The first field of a name.
    package func first(of name: HTTPHeaderName) -> Field? { first { $0.name == name } }
}

extension HTTPHeaders.Field {
    /// The value as a reference to a URL, with the bytes that were on the wire.
    public var reference: URLReference { URLReference(value, isLatin1: isLatin1) }
}

extension HTTPResponse {
    /// The absolute URL of the first `Location` (RFC 9110, section 10.2.2), resolved against ``url`` as browsers do and
    /// without credentials; nil if there is none, or none that can be requested.
    public var location: URL? { headers.first(of: .location).flatMap { try? Location.resolve($0, from: url) } }
}
