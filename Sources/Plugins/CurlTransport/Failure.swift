#if os(Linux)
import Errand
#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// What is known of a transfer that libcurl ended with an error.
struct Failure {
    var code: Int32
    /// libcurl's text for the code.
    var summary = ""
    /// What libcurl wrote into its error buffer.
    var detail = ""
    var systemError: Int32 = 0
    /// OpenSSL's verdict on the certificate; 0 if there is none.
    var verification = 0
    /// What a proxy answered to CONNECT; 0 if there was none.
    var proxyStatus = 0
    var hasHead = false
    /// The connection had carried another request, and no line of a response came.
    var isOnUsedConnection = false

    var error: ErrandError {
        let text = detail.isEmpty ? summary : "\(summary): \(detail)"
        let (kind, words) = judgement
        return ErrandError(kind, words ?? text, underlying: CurlError(code: code, message: text))
    }

    private var judgement: (ErrandError.Code, String?) {
        if proxyStatus != 0, !(200...299).contains(proxyStatus) {
            return (.cannotConnect, "the proxy refused the connection with status \(proxyStatus)")
        }
        return judgementOfCode
    }

    private var judgementOfCode: (ErrandError.Code, String?) {
        switch code {
        case 3: (.invalidURL, nil)
        case 4, 48: (.transportUnavailable, "this libcurl lacks a feature that the configuration asks for")
        case 5, 6: (.nameLookupFailed, nil)
        case 7, 45, 97: (.cannotConnect, nil)
        case 28: (.timedOut, "the connection was not made in time")
        case 18: (.truncated, nil)
        case _ where isOnUsedConnection && Self.isForeign(code):
            (.connectionLost, "the connection, which was used before, has bytes that belong to no response")
        case 1: (.invalidResponse, "what came is not HTTP/1 or HTTP/2")
        case 8, 61: (.invalidResponse, nil)
        case 43 where !hasHead: (.invalidResponse, "a header field of the answer is not valid")
        case 27 where !hasHead: (.invalidResponse, "a header field is longer than libcurl takes")
        case 35 where Self.isReset(systemError): (.connectionLost, "the connection was lost in the TLS handshake")
        case 35, 53, 54, 58, 59, 60, 64, 66, 77, 80, 82, 83, 90, 91, 98: (.insecureConnection, insecurity)
        case 52: (.connectionLost, "the connection was closed before an answer")
        case 65: (.connectionLost, "the connection was closed while a body that can be sent once was on its way")
        case 16, 55, 56, 92, 95: (.connectionLost, nil)
        case 100: (.invalidResponse, "a header field is longer than libcurl takes")
        default: (.transportFailed, nil)
        }
    }

    /// Whether what came is nothing that begins like a response.
    static func isForeign(_ code: Int32) -> Bool { code == 1 || code == 8 }

    private static func isReset(_ number: Int32) -> Bool { number == ECONNRESET || number == EPIPE }

    /// Which check the peer failed.
    private var insecurity: String? {
        if code == 90 { return "the server's public key is none of the pinned ones" }
        guard code == 60 else { return nil }
        if detail.contains("subject name") || detail.contains("host name") {
            return "the server's certificate is for another host"
        }
        switch verification {
        case 9: return "the server's certificate is not valid yet"
        case 10: return "the server's certificate has expired"
        case 18, 19: return "the server's certificate is self-signed"
        case 2, 20, 21: return "the server's certificate is signed by nobody who is trusted"
        case 23: return "the server's certificate was revoked"
        case 62, 64: return "the server's certificate is for another host"
        default: return nil
        }
    }
}
#endif
