public import ErrandEssentials
import ErrandHTTP
import ErrandHTTPFields
import ErrandKeys

/// A valid signature, and the components that it covers.
public struct VerifiedSignature: Sendable, Hashable {
    /// The signature's label.
    public let label: String
    /// The components that the signature covers. Don't trust other parts of the message.
    public let input: SignatureInput
}

/// Verifies HTTP message signatures (RFC 9421, section 3.2).
///
/// ```swift
/// let verifier = HTTPMessageVerifier(
///     keys: ["server": VerificationKey(publicKey)],
///     requirements: SignatureRequirements(covering: [.status, "content-type"]))
/// let signatures = try await verifier.verify(SignableMessage(response, to: exchange.http), at: Date())
/// ```
public struct HTTPMessageVerifier: Sendable {
    private let keys: any VerificationKeySource
    private let requirements: SignatureRequirements

    /// Creates a verifier with a source of keys.
    public init(keys: any VerificationKeySource, requirements: SignatureRequirements) {
        (self.keys, self.requirements) = (keys, requirements)
    }

    /// Creates a verifier with a fixed set of keys.
    public init(keys: KnownKeys, requirements: SignatureRequirements) {
        (self.keys, self.requirements) = (keys, requirements)
    }

    /// Returns the signatures that meet all requirements. If the content is in memory, also checks its digest.
    ///
    /// Throws ``SigningError`` if no signature meets the requirements. The error describes the failure of the first
    /// signature.
    public func verify(_ message: SignableMessage, at date: Date) async throws -> [VerifiedSignature] {
        let verified = try await verifyHead(of: message, at: date, hasContent: message.content.map { !$0.isEmpty })
        if requirements.coversContent, let content = message.content, !content.isEmpty {
            guard try digest(of: message).matches(content) else { throw Self.mismatch }
        }
        return verified
    }

    static var mismatch: SigningError {
        SigningError(.digestMismatch, "the content doesn't match Content-Digest")
    }

    var coversContent: Bool { requirements.coversContent }

    func digest(of message: SignableMessage) throws -> ContentDigest {
        try ContentDigest(parsing: message.headers[.contentDigest] ?? "")
    }

    func verifyHead(
        of message: SignableMessage, at date: Date, hasContent: Bool?
    ) async throws -> [VerifiedSignature] {
        let candidates = try candidates(in: message)
        try message.checkHost()
        var verified: [VerifiedSignature] = []
        var failure: (any Error)?
        for (label, member, signature) in candidates {
            do {
                let input = try SignatureInput(member)
                try await verify(input, signature: signature, message: message, at: date, hasContent: hasContent)
                verified.append(VerifiedSignature(label: label, input: input))
            } catch let error as SigningError { failure = failure ?? error }
        }
        if verified.isEmpty, let failure { throw failure }
        return verified
    }

    private func candidates(
        in message: SignableMessage
    ) throws -> [(label: String, input: StructuredField.Member, signature: Data)] {
        guard let inputText = message.headers[.signatureInput], let text = message.headers[.signature] else {
            throw SigningError(.missingSignature, "the message isn't signed")
        }
        guard let inputs = try? StructuredField.Dictionary(parsing: inputText),
            let signatures = try? StructuredField.Dictionary(parsing: text)
        else { throw SigningError(.malformedSignature, "a signature field is malformed") }
        guard inputs.entries.count <= requirements.maximumSignatures,
            signatures.entries.count <= requirements.maximumSignatures
        else {
            throw SigningError(
                .tooManySignatures, "the message has more than \(requirements.maximumSignatures) signatures")
        }
        guard Set(inputs.entries.map(\.key)) == Set(signatures.entries.map(\.key)) else {
            throw SigningError(.malformedSignature, "Signature and Signature-Input have different labels")
        }
        let found = try inputs.entries.compactMap { entry -> (label: String, StructuredField.Member, Data)? in
            if let label = requirements.label, entry.key != label { return nil }
            if let tag = requirements.tag, entry.member.parameters["tag"] != .string(tag) { return nil }
            guard let signature = signatures[entry.key]?.item?.value.bytes else {
                throw SigningError(.malformedSignature, "a member of Signature isn't a byte sequence")
            }
            return (entry.key, entry.member, signature)
        }
        guard !found.isEmpty else {
            throw SigningError(.missingSignature, "no signature has the required label and tag")
        }
        return found
    }

    private func verify(
        _ input: SignatureInput, signature: Data, message: SignableMessage, at date: Date, hasContent: Bool?
    ) async throws {
        for component in requirements.components where !input.components.contains(component) {
            throw SigningError(.insufficientCoverage, "the signature doesn't cover \(component)")
        }
        if requirements.coversContent, hasContent ?? true, !coversDigest(input) {
            throw SigningError(.insufficientCoverage, "the signature doesn't cover the content's digest")
        }
        let expiry = try checkDates(input, at: date)
        guard let key = try await keys.key(id: input.keyID) else {
            throw SigningError(.unknownKey, "the key of the signature is unknown")
        }
        let algorithm = try algorithm(input, key)
        let base = try input.signatureBase(of: message)
        guard try await key.verifier.isValid(signature, of: base, by: algorithm) else {
            throw SigningError(.invalidSignature, "the signature doesn't match the message and the key")
        }
        // The nonce is checked last, so only valid signatures use up a nonce.
        guard let nonces = requirements.nonces else { return }
        guard let nonce = input.nonce else { throw SigningError(.replayed, "the signature has no nonce") }
        guard try await nonces.record(nonce, keyID: input.keyID, at: date, until: expiry) else {
            throw SigningError(.replayed, "the nonce of the signature was used before")
        }
    }

    /// A single member of the message's `Content-Digest` field, or the request's field, isn't enough.
    private func coversDigest(_ input: SignatureInput) -> Bool {
        input.components.contains { component in
            component.name == "content-digest" && !component.has("req") && !component.has("tr")
                && component.parameters["key"] == nil
        }
    }

    private func checkDates(_ input: SignatureInput, at date: Date) throws -> Date {
        let tolerance = requirements.clockTolerance.bounded.seconds
        var end = Date.distantFuture
        if let created = input.created {
            guard created.timeIntervalSince(date) <= tolerance else {
                throw SigningError(.outdated, "the signature was created in the future")
            }
            if let age = requirements.maximumAge {
                guard date.timeIntervalSince(created) <= age.bounded.seconds else {
                    throw SigningError(.outdated, "the signature is too old")
                }
                end = created.addingTimeInterval(age.bounded.seconds)
            }
        } else if requirements.maximumAge != nil {
            throw SigningError(.outdated, "the signature has no \"created\" parameter, so its age is unknown")
        }
        if let expires = input.expires {
            guard date.timeIntervalSince(expires) <= tolerance else {
                throw SigningError(.outdated, "the signature has expired")
            }
            end = min(end, expires.addingTimeInterval(tolerance))
        }
        return end
    }

    private func algorithm(_ input: SignatureInput, _ key: VerificationKey) throws -> KeyAlgorithm {
        let named = try input.algorithm.map { name in
            guard let known = try? KeyAlgorithm(httpName: name) else {
                throw SigningError(.algorithmMismatch, "the algorithm of the signature is unknown")
            }
            return known
        }
        guard let algorithm = key.algorithm ?? named ?? key.verifier.algorithms.only else {
            throw SigningError(
                .algorithmMismatch, "the key supports several algorithms, so the signature must name its algorithm")
        }
        guard named == nil || named == algorithm, key.verifier.algorithms.contains(algorithm) else {
            throw SigningError(.algorithmMismatch, "the key doesn't support the signature's algorithm")
        }
        return algorithm
    }
}

extension Array {
    fileprivate var only: Element? { count == 1 ? first : nil }
}

extension Duration {
    var seconds: Double { Double(components.seconds) + Double(components.attoseconds) / 1e18 }
}
