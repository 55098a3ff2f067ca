public import Errand
import ErrandEssentials
import ErrandMessageSyntax
import ErrandSupport

/// Signs requests right before they're sent. Create it with `.signing`.
///
/// The group consists of two filters. At the start of a call, the first filter identifies the key's owner, so caches
/// keep users apart. The second filter signs each attempt and each redirect with the current date.
///
/// If a server refuses a request with 400, 401 or 403, and the response's `Date` differs from the signature's date, the
/// filter remembers the difference for the server's origin. It then signs and sends the request once more with the
/// corrected date.
public struct SigningFilter: FilterGroup {
    /// The treatment of a request whose origin isn't trusted.
    public enum UntrustedOrigin: Sendable, Hashable {
        /// Sends the request unsigned.
        case sendsUnsigned
        /// Throws ``SigningError`` without sending the request.
        case fails
    }

    private let signatures: Signatures

    init(
        _ signers: [any RequestSigner], origins: TrustedOrigins?, untrusted: UntrustedOrigin, correctsClock: Bool
    ) {
        signatures = Signatures(signers, origins: origins, untrusted: untrusted, correctsClock: correctsClock)
    }

    /// The two filters of the group: the filter that identifies the key's owner, and the filter that signs.
    public var filters: [any Filter] {
        [SignatureOwnerFilter(signatures: signatures), WireSignatureFilter(signatures: signatures)]
    }

    /// The group's line in `agent.explain`: the signers' schemes.
    public var explanation: String { signatures.explanation }
}

private struct SignatureOwnerFilter: Filter {
    let signatures: Signatures

    var traits: FilterTraits { .authenticates }
    var explanation: String { "marks requests with the owner of the signing key" }

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        try await next(signatures.isFor(exchange) ? try await signatures.declaring(exchange) : exchange)
    }
}

private struct WireSignatureFilter: Filter {
    let signatures: Signatures

    var stages: FilterStages { .wire }
    var traits: FilterTraits { .repeatsHops }
    var explanation: String { signatures.explanation }

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        guard exchange.tags[SigningMode.self] == .on else { return try await next(exchange) }
        guard signatures.isFor(exchange) else {
            if signatures.untrusted == .sendsUnsigned { return try await next(exchange) }
            throw SigningError(
                .untrustedOrigin,
                "the request isn't signed, because its origin isn't trusted; add the origin to the filter's origins")
        }
        guard !next.following.contains(.changesRequest) else {
            throw SigningError(
                .notLast, "a later wire filter changes requests after they are signed; list the signing filter after it"
            )
        }
        return try await signatures.send(exchange, next)
    }
}

private struct Signatures: Sendable {
    private let signers: [any RequestSigner]
    private let origins: TrustedOrigins?
    let untrusted: SigningFilter.UntrustedOrigin
    private let clocks: ServerClocks?
    private let ownerKey = CallKey<[String?]>()

    init(
        _ signers: [any RequestSigner], origins: TrustedOrigins?, untrusted: SigningFilter.UntrustedOrigin,
        correctsClock: Bool
    ) {
        (self.signers, self.origins, self.untrusted) = (signers, origins, untrusted)
        clocks = correctsClock ? ServerClocks() : nil
    }

    var explanation: String { "signs on the wire: " + signers.map(\.explanation).joined(separator: ", ") }

    func isFor(_ exchange: Exchange) -> Bool {
        exchange.tags[SigningMode.self] == .on && (origins?.contains(exchange.http.url) ?? exchange.isTrusted)
    }

    // MARK: Users

    private func owners() async throws -> [String?] {
        var owners: [String?] = []
        for signer in signers { owners.append(try await signer.owner()) }
        return owners
    }

    private func mark(_ owners: [String?]) -> UserMark? {
        let known = owners.compactMap(\.self)
        guard known.count == owners.count else { return nil }
        return UserMark(known.map { "\($0.utf8.count):\($0)" }.joined(), source: "signature")
    }

    func declaring(_ exchange: Exchange) async throws -> Exchange {
        let owners = try await owners()
        guard let mark = mark(try remembered(owners, exchange)) else { return exchange }
        var exchange = exchange
        exchange.assign(to: mark)
        return exchange
    }

    /// Throws if the owners have changed since the call or its operation began.
    private func remembered(_ owners: [String?], _ exchange: Exchange) throws -> [String?] {
        let first = exchange.once(ownerKey) {
            guard let pin = exchange.userPin else { return owners }
            return pin.once(ownerKey, owners)
        }
        guard first == owners else {
            throw SigningError(.ownerChanged, "the owner of the signing key has changed since the call began")
        }
        return first
    }

    // MARK: Signatures

    func send(_ exchange: Exchange, _ next: Next) async throws -> HTTPResponse {
        let owners = try remembered(try await owners(), exchange)
        let url = exchange.http.url
        let stagedWork = exchange.stagedWorkCount
        let date = self.date(of: url, exchange.time.date)
        let response = try await next(try await signed(exchange, by: signers, at: date, owners))
        guard [400, 401, 403].contains(response.status), !response.source.isStored else { return response }
        let now = exchange.time.date
        let isLate = clocks?.learn(from: response, to: url, signedAt: date, now: now) ?? false
        let revised = try self.revised(after: response)
        guard isLate || revised != nil, exchange.http.body.isReplayable else { return response }
        let again: Exchange
        do {
            again = try await signed(exchange, by: revised ?? signers, at: self.date(of: url, now), owners)
        } catch  where !error.isCancellation {
            // The server's refusal is more informative than the error.
            return response
        }
        exchange.note(
            "signing",
            isLate ? "signed again, with the server's date" : "signed again, as the server's Accept-Signature asks")
        await exchange.discard(response)
        await exchange.discardStagedWork(after: stagedWork)
        return try await next(again)
    }

    private func date(of url: URL, _ now: Date) -> Date { clocks?.date(of: url, now: now) ?? now }

    private func signed(
        _ exchange: Exchange, by signers: [any RequestSigner], at date: Date, _ owners: [String?]
    ) async throws -> Exchange {
        var exchange = exchange
        let before = exchange.http
        var request = before
        for signer in signers { try await signer.sign(&request, at: date) }
        let plain = signers.reduce(into: Set()) { $0.formUnion($1.plainFields) }
        request.headers = Self.masking(request.headers, added: before.headers, plain)
        exchange.http = request
        let added = request.headers.filter { field in
            field.isSensitive
                && !before.headers.contains { $0.name == field.name && $0.value.hasSameBytes(as: field.value) }
        }
        let mark = mark(owners)
        if let mark { exchange.assign(to: mark, carriedBy: Array(added)) }
        if exchange.userPin != nil { exchange.vouch(for: mark, carriedBy: Array(added)) }
        return exchange
    }

    private static func masking(
        _ headers: HTTPHeaders, added before: HTTPHeaders, _ plain: Set<HTTPHeaderName>
    ) -> HTTPHeaders {
        let names = Set(headers.map(\.name)).filter {
            !plain.contains($0) && headers.values(of: $0) != before.values(of: $0)
        }
        return HTTPHeaders(
            headers.map { field in
                var field = field
                if names.contains(field.name) { field.isSensitive = true }
                return field
            })
    }

    private func revised(after response: HTTPResponse) throws -> [any RequestSigner]? {
        var isRevised = false
        let revised = try signers.map { signer -> any RequestSigner in
            guard let other = try signer.revised(after: response) else { return signer }
            isRevised = true
            return other
        }
        return isRevised ? revised : nil
    }
}

extension Signatures: CustomReflectable {
    var customMirror: Mirror { Mirror(self, children: []) }
}

extension SigningFilter: CustomReflectable {
    /// An empty mirror that hides keys.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension Filter where Self == SigningFilter {
    /// Creates a filter that signs requests right before they're sent: `filters: [.signing(try HTTPMessageSigner(key:
    /// key, keyID: "app"))]`.
    ///
    /// - Parameters:
    ///   - signers: The signers, in order. A signature can cover the signatures of earlier signers.
    ///   - origins: The origins that receive signatures. Defaults to nil, which means the agent's trusted origins.
    ///   - untrusted: What happens to requests to other origins. Defaults to sending them unsigned.
    ///   - correctsClock: Whether to learn the server's clock from the `Date` of a response that refuses a request.
    ///     Defaults to true.
    public static func signing(
        _ signers: any RequestSigner..., origins: TrustedOrigins? = nil,
        untrusted: SigningFilter.UntrustedOrigin = .sendsUnsigned, correctsClock: Bool = true
    ) -> SigningFilter {
        SigningFilter(signers, origins: origins, untrusted: untrusted, correctsClock: correctsClock)
    }
}
