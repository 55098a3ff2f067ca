#if os(Linux) || os(Android)
/// The libcurl results (`CURLcode`) the transport distinguishes.
enum CurlCode {
    static let unsupportedProtocol: Int32 = 1
    static let failedInitialization: Int32 = 2
    static let malformedURL: Int32 = 3
    static let notBuiltIn: Int32 = 4
    static let couldNotResolveProxy: Int32 = 5
    static let couldNotResolveHost: Int32 = 6
    static let couldNotConnect: Int32 = 7
    static let weirdServerReply: Int32 = 8
    static let http2: Int32 = 16
    static let partialFile: Int32 = 18
    static let outOfMemory: Int32 = 27
    static let timedOut: Int32 = 28
    static let tlsHandshake: Int32 = 35
    static let abortedByCallback: Int32 = 42
    static let badFunctionArgument: Int32 = 43
    static let interfaceFailed: Int32 = 45
    static let unknownOption: Int32 = 48
    static let gotNothing: Int32 = 52
    static let tlsEngineNotFound: Int32 = 53
    static let tlsEngineNotSet: Int32 = 54
    static let sendError: Int32 = 55
    static let receiveError: Int32 = 56
    static let clientCertificate: Int32 = 58
    static let tlsCipher: Int32 = 59
    static let peerVerification: Int32 = 60
    static let badContentEncoding: Int32 = 61
    static let tlsRequired: Int32 = 64
    static let rewindFailed: Int32 = 65
    static let tlsEngineInitialization: Int32 = 66
    static let rootsNotReadable: Int32 = 77
    static let tlsShutdown: Int32 = 80
    static let revocationListNotReadable: Int32 = 82
    static let issuerMismatch: Int32 = 83
    static let pinMismatch: Int32 = 90
    static let invalidCertificateStatus: Int32 = 91
    static let http2Stream: Int32 = 92
    static let http3: Int32 = 95
    static let quicConnection: Int32 = 96
    static let proxyHandshake: Int32 = 97
    static let clientCertificateNeeded: Int32 = 98
    static let tooLarge: Int32 = 100
    /// One of libcurl's buffers is too small.
    static let areTooLarge: Set<Int32> = [outOfMemory, tooLarge]
}

/// OpenSSL's `X509_V_ERR_…`.
enum CertificateVerdict {
    static let issuerNotFound = 2
    static let notYetValid = 9
    static let expired = 10
    static let selfSigned = 18
    static let selfSignedInChain = 19
    static let issuerNotFoundLocally = 20
    static let firstSignatureNotVerified = 21
    static let revoked = 23
    static let hostMismatch = 62
    static let addressMismatch = 64
}
#endif
