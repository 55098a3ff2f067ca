import Errand
import ErrandMessageSyntax
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Rebuilds a response's headers from the dictionary in `HTTPURLResponse`.
enum ResponseFields {
    private static let codings = codings(hasZstd: hasZstd)

    static func codings(hasZstd: Bool) -> Set<Substring> {
        let all: Set<Substring> = ["gzip", "x-gzip", "deflate", "br", "identity"]
        return hasZstd ? all.union(["zstd"]) : all
    }

    static func isDecoded(
        _ response: HTTPURLResponse, for method: HTTPMethod, _ codings: Set<Substring> = codings
    ) -> Bool {
        guard let value = response.value(forHTTPHeaderField: "Content-Encoding"), !value.isEmpty else { return false }
        if method == .head || response.statusCode == 204 || response.statusCode == 304 { return false }
        let names = value.lowercased().split(whereSeparator: { $0 == "," || $0 == " " || $0 == "\t" })
        return names.allSatisfy(codings.contains)
    }

    /// Returns the headers of a response. If the body was decoded, drops `Content-Encoding` and `Content-Length`.
    /// Splits `Set-Cookie` into its fields. Other fields stay joined by commas (RFC 9110, section 5.3).
    static func headers(of response: HTTPURLResponse, for method: HTTPMethod) -> HTTPHeaders {
        let isDecoded = isDecoded(response, for: method)
        var fields: [HTTPHeaders.Field] = []
        for (key, value) in response.allHeaderFields {
            guard let key = key as? String, let value = (value as? String).map(trimmed) else { continue }
            let name = HTTPHeaderName(key)
            if isDecoded, name == .contentEncoding || name == .contentLength { continue }
            if name == .setCookie {
                fields += cookies(in: value).map { HTTPHeaders.Field(name, $0) }
            } else {
                fields.append(HTTPHeaders.Field(name, value))
            }
        }
        // Dictionaries are unordered, and equal responses must have equal headers.
        let sorted = fields.enumerated().sorted {
            ($0.element.name.rawName, $0.offset) < ($1.element.name.rawName, $1.offset)
        }
        return HTTPHeaders(sorted.map(\.element))
    }

    static func hasValidLength(_ response: HTTPURLResponse, for method: HTTPMethod) -> Bool {
        guard let length = response.value(forHTTPHeaderField: "Content-Length") else { return true }
        if method == .head || response.statusCode == 204 || response.statusCode == 304 { return true }
        if response.value(forHTTPHeaderField: "Transfer-Encoding") != nil { return true }
        return ContentLength.parse([trimmed(length)]) != nil
    }

    /// Returns a value without surrounding white space, which URLSession keeps on Linux.
    private static func trimmed(_ value: String) -> String {
        var value = Substring(value)
        while let last = value.last, last == " " || last == "\t" { value = value.dropLast() }
        return String(value.drop { $0 == " " || $0 == "\t" })
    }

    /// Splits a joined `Set-Cookie` value. A comma separates cookies only if a name and an equals sign follow before
    /// any other comma or semicolon, because dates contain commas, too.
    static func cookies(in value: String) -> [String] {
        var result: [String] = []
        var start = value.startIndex
        for comma in value.indices where value[comma] == "," {
            let rest = value[value.index(after: comma)...].drop { $0 == " " || $0 == "\t" }
            let name = rest.prefix { $0 != "=" && $0 != "," && $0 != ";" }
            let isAssigned = name.endIndex < rest.endIndex && rest[name.endIndex] == "="
            if !isAssigned || !HTTPHeaderName(String(name)).isValid { continue }
            result.append(String(value[start..<comma]))
            start = rest.startIndex
        }
        result.append(String(value[start...]))
        return result.filter { !$0.isEmpty }
    }
}

extension HTTPURLResponse {
    /// The response without its length, for a body that URLSession has dropped.
    var withoutLength: HTTPURLResponse {
        var fields: [String: String] = [:]
        for (key, value) in allHeaderFields {
            guard let key = key as? String, let value = value as? String else { continue }
            if HTTPHeaderName(key) != .contentLength { fields[key] = value }
        }
        guard let url else { return self }
        return HTTPURLResponse(url: url, statusCode: statusCode, httpVersion: nil, headerFields: fields) ?? self
    }
}
