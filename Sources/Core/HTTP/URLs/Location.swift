public import ErrandEssentials
package import ErrandMessageSyntax

/// The `Location` of a response (RFC 9110, section 10.2.2).
package enum Location {
    /// Resolves one against the URL of the response. Its fragment falls back to that URL's; credentials in it are
    /// dropped.
    package static func resolve(_ location: String, from url: URL) throws(URLSyntax.Fault) -> URL {
        var text = ""
        // Servers send raw UTF-8 and spaces here; a browser escapes them.
        PercentEncoding.encode(location, into: &text) { $0 > 0x20 && $0 < 0x7F }
        guard var target = URL(string: text, relativeTo: url)?.absoluteURL else {
            throw URLSyntax.Fault(description: "the Location \(URLSyntax.quoted(location)) is no URL")
        }
        if target.user != nil || target.password != nil || target.fragment == nil && url.fragment != nil {
            var parts = URLComponents(url: target, resolvingAgainstBaseURL: true)
            parts?.user = nil
            parts?.password = nil
            if target.fragment == nil { parts?.percentEncodedFragment = url.fragment(percentEncoded: true) }
            target = parts?.url ?? target
        }
        do { try URLSyntax.check(target.absoluteString) } catch {
            throw URLSyntax.Fault(
                description: "the Location \(URLSyntax.quoted(location)) cannot be requested: \(error.description)")
        }
        return target
    }
}

extension HTTPResponse {
    /// The absolute URL of the first `Location` (RFC 9110, section 10.2.2), resolved against ``url`` and without
    /// credentials; nil where there is none, or none that can be requested.
    public var location: URL? {
        headers.values(of: .location).first.flatMap { try? Location.resolve($0, from: url) }
    }
}
