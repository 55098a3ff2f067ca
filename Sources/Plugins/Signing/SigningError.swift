public import Errand
import ErrandEssentials

/// A failure to sign a request or to verify a message. Descriptions contain no keys, signatures or field values.
public struct SigningError: CodedError, Sendable {
    /// The error codes. More may be added, so write a `default` in a `switch`.
    public typealias Code = FailureCode<SigningError>

    /// The kind of failure. Stable, so you can use it in metrics.
    public let code: Code
    /// Describes the failure, without secrets.
    public let message: String
    /// The response that doesn't have a valid signature. If its body is a stream, the body is left out.
    public internal(set) var response: HTTPResponse?

    /// Creates an error, for your own signers.
    public init(_ code: Code, _ message: String) { (self.code, self.message) = (code, message) }

    /// The code and the message.
    public var description: String { "\(code): \(message)" }
}

extension SigningError: RequestFailure {
    /// False, because the same request fails again.
    public var isRetryable: Bool { false }
    /// The reason for the code ``Code/ownerChanged``. Nil for other codes.
    public var userFailure: UserFailure? { code == .ownerChanged ? .userChanged : nil }
}

extension SigningError {
    /// The text that users see as `localizedDescription`.
    public var failureSentence: FailureSentence {
        switch code {
        case .ownerChanged: .userChanged
        case .missingSignature, .malformedSignature, .unknownKey, .algorithmMismatch, .insufficientCoverage, .outdated,
            .replayed, .invalidSignature, .digestMismatch, .tooManySignatures:
            .unusableResponse
        default: .failed
        }
    }
}

extension SigningError: CustomReflectable {
    /// A mirror with the code, the message and the response.
    public var customMirror: Mirror {
        Mirror(self, children: ["code": code, "message": message, "response": response as Any])
    }
}

extension FailureCode<SigningError> {
    /// The message lacks a component that the signature must cover.
    public static var missingComponent: Self { Self("missingComponent", 1) }
    /// A component's name or parameters are invalid, or a component occurs twice.
    public static var invalidComponent: Self { Self("invalidComponent", 2) }
    /// A component's value can't be signed, for example because it isn't ASCII.
    public static var invalidValue: Self { Self("invalidValue", 3) }
    /// The body isn't in memory, so its digest is unknown.
    public static var unknownDigest: Self { Self("unknownDigest", 4) }
    /// The length of a body that's signed in chunks is unknown.
    public static var unknownLength: Self { Self("unknownLength", 5) }
    /// The request already has a field or label that the signature needs.
    public static var fieldInUse: Self { Self("fieldInUse", 6) }
    /// The request's origin isn't trusted with signatures.
    public static var untrustedOrigin: Self { Self("untrustedOrigin", 7) }
    /// A later filter would change the signed request.
    public static var notLast: Self { Self("notLast", 8) }
    /// The signer's owner changed during the call.
    public static var ownerChanged: Self { Self("ownerChanged", 9) }
    /// The message has no signature with the required label and tag.
    public static var missingSignature: Self { Self("missingSignature", 10) }
    /// The signature fields are malformed or contradictory.
    public static var malformedSignature: Self { Self("malformedSignature", 11) }
    /// The signature's key isn't known.
    public static var unknownKey: Self { Self("unknownKey", 12) }
    /// The algorithm isn't allowed for the key.
    public static var algorithmMismatch: Self { Self("algorithmMismatch", 13) }
    /// The signature doesn't cover all required components.
    public static var insufficientCoverage: Self { Self("insufficientCoverage", 14) }
    /// The signature is too old, has expired, or was created in the future.
    public static var outdated: Self { Self("outdated", 15) }
    /// The nonce was used before, or is missing.
    public static var replayed: Self { Self("replayed", 16) }
    /// The signature doesn't match the message and the key.
    public static var invalidSignature: Self { Self("invalidSignature", 17) }
    /// The body doesn't match the digest in the field, or the field has no digest with a known algorithm.
    public static var digestMismatch: Self { Self("digestMismatch", 18) }
    /// The message has more signatures than the requirements allow.
    public static var tooManySignatures: Self { Self("tooManySignatures", 19) }
    /// An option has a value that the signature scheme doesn't allow.
    public static var invalidOptions: Self { Self("invalidOptions", 20) }
}

extension HTTPHeaderName {
    /// The signatures of a message (RFC 9421, section 4.2).
    public static var signature: HTTPHeaderName { "Signature" }
    /// The components that each signature covers (RFC 9421, section 4.1).
    public static var signatureInput: HTTPHeaderName { "Signature-Input" }
    /// The signatures that the sender asks for (RFC 9421, section 5.1).
    public static var acceptSignature: HTTPHeaderName { "Accept-Signature" }
    /// The digests that the sender asks for (RFC 9530, section 4).
    public static var wantContentDigest: HTTPHeaderName { "Want-Content-Digest" }
}
