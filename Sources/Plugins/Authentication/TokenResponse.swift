import Errand
import ErrandEssentials
import ErrandMessageSyntax

/// The response of a token endpoint (RFC 6749, section 5.1), for your own credential types.
///
/// ```swift
/// let response = try await agent.send(Call<TokenResponse>(.post, "token")).value
/// let renewal = response.lifetime.map { ContinuousClock.now + $0 * 0.9 }
/// ```
///
/// Accepts common deviations: a lifetime in quotes, a list of scopes, and names that the decoder has converted from
/// snake case. Blank members count as missing. Throws a `DecodingError` if the access token is missing or blank, if it
/// contains characters other than visible ASCII and spaces, or if a token exceeds 256 KiB.
public struct TokenResponse: Decodable, Sendable, Hashable {
    /// The access token (`access_token`).
    public let accessToken: String
    /// The token's type, such as `Bearer`. Nil if the type is missing, because some servers leave out `Bearer`. Don't
    /// use a token of an unknown type (RFC 6749, section 7.1).
    public let tokenType: String?
    /// How long the token is valid from the time of the response. Nil if unknown. Zero or less counts as unknown,
    /// because servers send it for tokens that don't expire.
    public let lifetime: Duration?
    /// The refresh token. Nil if the response doesn't contain one. If that response is for a refresh, the old refresh
    /// token remains valid (RFC 6749, section 6).
    public let refreshToken: String?
    /// The scopes, separated by spaces. Nil if the response doesn't contain scopes, which means that the requested
    /// scopes apply.
    public let scope: String?
    /// The ID token of OpenID Connect, if there is one.
    public let idToken: String?

    private struct Name: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }
        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    /// The longest lifetime, in seconds. Longer lifetimes make no practical difference, and a date that far in the
    /// future may not be encodable.
    private static let longest = Duration.seconds(Int64.max).bounded / .seconds(1)
    private static let maximumTokenBytes = 256 << 10

    /// Decodes a response. Throws a `DecodingError` that names the invalid member.
    public init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: Name.self)
        /// The decoder may have converted names from snake case.
        func key(_ name: String) -> Name {
            let plain = Name(stringValue: name)
            if members.contains(plain) { return plain }
            let words = name.split(separator: "_")
            return Name(
                stringValue: words.prefix(1).joined()
                    + words.dropFirst().map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined())
        }
        func fault(_ name: String, _ reason: String) -> DecodingError {
            .dataCorruptedError(forKey: key(name), in: members, debugDescription: reason)
        }
        func text(_ name: String) throws -> String? {
            guard let text = try members.decodeIfPresent(String.self, forKey: key(name)).unlessBlank else { return nil }
            guard text.utf8.count <= Self.maximumTokenBytes else {
                throw fault(name, "expected at most \(Self.maximumTokenBytes) bytes, found \(text.utf8.count)")
            }
            return text
        }
        guard let token = try text("access_token") else {
            throw fault("access_token", "expected a token, found an empty or missing value")
        }
        // RFC 6749, appendix A.12. Other characters could add header fields.
        guard token.utf8.allSatisfy({ $0 >= 0x20 && $0 < 0x7F }) else {
            throw fault("access_token", "expected only visible ASCII characters, found another character")
        }
        accessToken = token
        tokenType = try text("token_type")
        refreshToken = try text("refresh_token")
        idToken = try text("id_token")
        if let list = try? members.decode([String].self, forKey: key("scope")) {
            scope = Optional(list.filter { !$0.isEmpty }.joined(separator: " ")).unlessBlank
        } else {
            scope = try text("scope")
        }
        let expiry = key("expires_in")
        guard members.contains(expiry), try !members.decodeNil(forKey: expiry) else {
            lifetime = nil
            return
        }
        let number = try? members.decode(Double.self, forKey: expiry)
        let text = number == nil ? try members.decode(String.self, forKey: expiry) : nil
        if number == nil, text.unlessBlank == nil {
            lifetime = nil
            return
        }
        guard let seconds = number ?? text.flatMap({ ASCII.decimal($0) }), seconds.isFinite else {
            throw fault("expires_in", "expected a number of seconds, found other text")
        }
        lifetime = seconds > 0 ? .seconds(min(seconds, Self.longest)) : nil
    }
}

extension TokenResponse: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The type and the lifetime, with a masked token.
    public var description: String {
        "\(tokenType ?? "Bearer") \(Redaction.mask)" + (lifetime.map { ", for \($0)" } ?? "")
    }
    /// The same as `description`.
    public var debugDescription: String { description }
    /// A mirror that shows only the lifetime.
    public var customMirror: Mirror { Mirror(self, children: ["lifetime": lifetime as Any]) }
}

extension String? {
    var unlessBlank: String? { self?.utf8.contains { $0 > 0x20 && $0 != 0x7F } == true ? self : nil }
}
