#if os(Linux) || os(Android)
import CErrandCurl
import Errand
import ErrandSupport

/// The evidence about a transfer that libcurl ended with an error.
struct CurlFailure {
    var code: Int32
    var summary = ""
    var detail = ""
    var systemError: Int32 = 0
    /// OpenSSL's ``CertificateVerdict``, or 0.
    var verification = 0
    /// The status of a proxy's response to CONNECT, or 0.
    var proxyStatus = 0
    var isProxyUnreached = false
    var hasHead = false
    /// Whether the connection had carried another request, and no response line was received.
    var isOnUsedConnection = false
    /// Whether the connection was new and without TLS, and no response byte was received.
    var isMuteWithoutTLS = false
    /// Whether libcurl ended an HTTP/2 stream that neither side had ended.
    var isBrokenHTTP2 = false
    /// Whether a QUIC connection ended for an unknown reason.
    var isLostOnQUIC = false
    var isCutShort = false
    /// Whether libcurl closed a QUIC connection because of invalid bytes. Other requests didn't use the connection.
    var isEndedHere = false
    /// Whether a QUIC connection ended before it was open.
    var isRefusedQUIC = false
    /// Whether a byte of the request may have been sent, on this connection or an earlier connection.
    var isRepetition = false

    /// The failure for a line in the head that isn't a header field.
    static var ofLine: CurlFailure {
        let code = CurlCode.badFunctionArgument
        return CurlFailure(code: code, summary: CurlLibrary.description(of: code))
    }

    var error: ErrandError {
        // The details are a complete sentence that includes the summary.
        let text = detail.isEmpty ? summary : detail
        let (kind, words) = judgement
        return ErrandError(kind, words ?? text, underlying: CurlError(code: code, message: text))
    }

    private var judgement: (ErrandError.Code, String?) {
        if proxyStatus != 0, !(200...299).contains(proxyStatus), !isRepetition {
            return (.cannotConnect, "the proxy refused the connection with status \(proxyStatus)")
        }
        return connectionJudgement ?? tlsJudgement ?? responseJudgement ?? (.transportFailed, nil)
    }

    private var connectionJudgement: (ErrandError.Code, String?)? {
        switch code {
        case CurlCode.malformedURL: (.invalidURL, nil)
        case CurlCode.notBuiltIn, CurlCode.unknownOption:
            (.transportUnavailable, "this libcurl lacks a feature that the configuration requires")
        // Otherwise, these codes would suggest that no server has seen the request.
        case _ where isRepetition && Self.isUnreached(code):
            (.connectionLost, "the connection was closed before a response, and another connection couldn't be opened")
        case CurlCode.couldNotResolveProxy, CurlCode.couldNotResolveHost: (.nameLookupFailed, nil)
        case CurlCode.couldNotConnect where isProxyUnreached: (.cannotConnect, "the proxy can't be reached: \(detail)")
        case CurlCode.couldNotConnect, CurlCode.interfaceFailed, CurlCode.proxyHandshake, CurlCode.quicConnection:
            (.cannotConnect, nil)
        case _ where isRefusedQUIC: (.cannotConnect, nil)
        case CurlCode.timedOut: (.timedOut, Self.connectionTimeout)
        default: nil
        }
    }

    private var tlsJudgement: (ErrandError.Code, String?)? {
        switch code {
        case CurlCode.tlsHandshake where Self.isReset(systemError):
            (.connectionLost, "the connection was lost during the TLS handshake")
        case CurlCode.tlsHandshake, CurlCode.tlsEngineNotFound, CurlCode.tlsEngineNotSet, CurlCode.clientCertificate,
            CurlCode.tlsCipher, CurlCode.peerVerification, CurlCode.tlsRequired, CurlCode.tlsEngineInitialization,
            CurlCode.rootsNotReadable, CurlCode.tlsShutdown, CurlCode.revocationListNotReadable,
            CurlCode.issuerMismatch, CurlCode.pinMismatch, CurlCode.invalidCertificateStatus,
            CurlCode.clientCertificateNeeded:
            (.insecureConnection, insecurity)
        default: nil
        }
    }

    private var responseJudgement: (ErrandError.Code, String?)? {
        switch code {
        case _ where isMuteWithoutTLS && Self.isClosed(code) && !isBrokenHTTP2 && !isMalformed:
            (.connectionLost, Self.mute)
        case CurlCode.partialFile where !hasHead: (.connectionLost, "the connection was closed before a response")
        case CurlCode.partialFile: (.truncated, nil)
        case _ where isLostOnQUIC && isCutShort: (.truncated, nil)
        case _ where isLostOnQUIC && isEndedHere: (.invalidResponse, "the server sent data that isn't valid HTTP/3")
        case _ where isOnUsedConnection && Self.isForeign(code):
            (.connectionLost, Self.excess)
        case CurlCode.unsupportedProtocol: (.invalidResponse, "the response isn't HTTP/1, HTTP/2 or HTTP/3")
        case CurlCode.weirdServerReply, CurlCode.badContentEncoding: (.invalidResponse, nil)
        case CurlCode.badFunctionArgument:
            (.invalidResponse, "a \(hasHead ? "trailer" : "header") field of the response is invalid")
        case _ where isMalformed: (.invalidResponse, nil)
        case CurlCode.gotNothing where isBrokenHTTP2:
            (.invalidResponse, "the server sent data that isn't valid HTTP/2")
        case CurlCode.outOfMemory where !hasHead, CurlCode.tooLarge:
            (.invalidResponse, "a header field is too long for libcurl")
        case CurlCode.gotNothing: (.connectionLost, "the connection was closed before a response")
        case CurlCode.rewindFailed:
            (.connectionLost, "the connection was closed while sending a body that can be sent only once")
        case CurlCode.http2, CurlCode.sendError, CurlCode.receiveError, CurlCode.http2Stream, CurlCode.http3:
            (.connectionLost, nil)
        default: nil
        }
    }

    /// Whether the server sent malformed bytes. libcurl reports violations of the rules for chunks or HTTP/2 like a
    /// lost connection.
    var isMalformed: Bool {
        if Self.recvFailures.contains(where: { detail.contains($0) }) { return true }
        return switch code {
        case CurlCode.receiveError, CurlCode.outOfMemory: hasHead && detail.contains("chunk")
        case CurlCode.http2Stream: detail.contains("PROTOCOL_ERROR")
        default: false
        }
    }

    /// libcurl's texts for input that its HTTP/2 library rejects.
    private static let recvFailures = [
        "nghttp2_session_mem_recv() returned", "nghttp2 recv error", "nghttp2 shuts down connection",
        "Invalid HTTP header field was received", "received invalid frame: ",
    ]

    /// The texts of OpenSSL and GnuTLS for bytes that aren't TLS records, such as HTTP.
    private static let foreignRecords = [
        "wrong version number", "packet length too long", "unexpected TLS packet", "not a TLS record",
    ]

    static func isUnreached(_ code: Int32) -> Bool {
        switch code {
        case CurlCode.couldNotResolveProxy, CurlCode.couldNotResolveHost, CurlCode.couldNotConnect,
            CurlCode.interfaceFailed, CurlCode.proxyHandshake, CurlCode.quicConnection:
            true
        default: false
        }
    }

    static let excess = "the server sent unexpected bytes on a reused connection"

    /// The message for a connection that closed silently. A server that expects TLS usually closes a connection without
    /// TLS like this.
    static let mute = "the connection was closed before a response: should the URL begin with https?"

    private static func isClosed(_ code: Int32) -> Bool {
        [CurlCode.partialFile, CurlCode.gotNothing, CurlCode.receiveError].contains(code)
    }

    static let connectionTimeout = "the connection wasn't established in time"

    /// Whether libcurl received bytes that don't begin like a response.
    static func isForeign(_ code: Int32) -> Bool {
        code == CurlCode.unsupportedProtocol || code == CurlCode.weirdServerReply
    }

    /// Whether the server's GOAWAY excluded the stream. libcurl returns this code for such a stream.
    static func isGoAway(_ code: Int32) -> Bool { code == CurlCode.http2 }

    /// Whether an HTTP/2 stream ended without an error code.
    var isEndedStream: Bool { code == CurlCode.http2Stream && !detail.contains("(err") }

    private static func isReset(_ number: Int32) -> Bool { number == ECONNRESET || number == EPIPE }

    private var insecurity: String? {
        if code == CurlCode.pinMismatch { return "the server's public key isn't one of the pinned keys" }
        if code == CurlCode.tlsHandshake, Self.foreignRecords.contains(where: { detail.contains($0) }) {
            return "the server doesn't use TLS on this port: should the URL begin with http?"
        }
        guard code == CurlCode.peerVerification else { return nil }
        if detail.contains("subject name") || detail.contains("host name") {
            return "the server's certificate is for another host"
        }
        switch verification {
        case CertificateVerdict.notYetValid: return "the server's certificate is not valid yet"
        case CertificateVerdict.expired: return "the server's certificate has expired"
        case CertificateVerdict.selfSigned, CertificateVerdict.selfSignedInChain:
            return "the server's certificate is self-signed"
        case CertificateVerdict.issuerNotFound, CertificateVerdict.issuerNotFoundLocally,
            CertificateVerdict.firstSignatureNotVerified:
            return "the server's certificate has an untrusted issuer"
        case CertificateVerdict.revoked: return "the server's certificate was revoked"
        case CertificateVerdict.hostMismatch, CertificateVerdict.addressMismatch:
            return "the server's certificate is for another host"
        default: return nil
        }
    }
}

/// The values of `CURLcode` that the transport distinguishes.
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
    /// The codes that libcurl returns if one of its buffers is too small.
    static let areTooLarge: Set<Int32> = [outOfMemory, tooLarge]
}

/// The verdicts of OpenSSL, `X509_V_ERR_…`.
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
