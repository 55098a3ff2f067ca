public import ErrandEssentials
public import ErrandMessageSyntax

package enum Location {
    /// Resolves a `Location` (RFC 9110, section 10.2.2) against the response's URL, whose fragment it inherits if it
    /// lacks one. Drops credentials in it.
    package static func resolve(_ field: HTTPHeaders.Field, from url: URL) throws(URLSyntax.Fault) -> URL {
        // Browsers show the response in this case.
        if field.value.isEmpty { throw URLSyntax.Fault(description: "the Location is empty") }
        do { return try field.reference.redirectURL(from: url) } catch {
            throw URLSyntax.Fault(
                description: "the Location \(URLSyntax.quoted(field.value)) cannot be requested: \(error.description)")
        }
    }
}

extension HTTPHeaders {
    package func first(of name: HTTPHeaderName) -> Field? { first { $0.name == name } }
}

extension HTTPHeaders.Field {
    /// The value as a URL reference, with the original bytes from the wire.
    public var reference: URLReference { URLReference(value, isLatin1: isLatin1) }
}

extension HTTPResponse {
    /// The absolute URL in the first `Location` (RFC 9110, section 10.2.2), resolved against ``url`` as browsers do,
    /// without credentials; `nil` if it is missing or can't be requested.
    public var location: URL? { headers.first(of: .location).flatMap { try? Location.resolve($0, from: url) } }
}
