import Errand
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension ErrandError {
    init(urlSession error: any Error) {
        guard let failure = error as? URLError else {
            self.init(.transportFailed, "URLSession failed", underlying: error)
            return
        }
        self.init(Self.code(failure), Self.text(failure), underlying: failure)
    }

    static func cutShort(_ error: any Error) -> ErrandError {
        ErrandError(.truncated, "the connection ended before the body did", underlying: error)
    }

    private static func code(_ error: URLError) -> Code {
        switch error.code {
        case .cancelled: .cancelled
        case .timedOut: .timedOut
        case .cannotFindHost, .dnsLookupFailed: .nameLookupFailed
        case .cannotConnectToHost, .notConnectedToInternet, .internationalRoamingOff, .callIsActive, .dataNotAllowed:
            .cannotConnect
        case .networkConnectionLost: .connectionLost
        // An empty reply on Linux, a malformed response on Apple's platforms.
        case .badServerResponse: isEmptyReply(error) ? .connectionLost : .invalidResponse
        case .cannotParseResponse, .cannotDecodeRawData, .cannotDecodeContentData: .invalidResponse
        case .secureConnectionFailed, .serverCertificateHasBadDate, .serverCertificateUntrusted,
            .serverCertificateHasUnknownRoot, .serverCertificateNotYetValid, .clientCertificateRejected,
            .clientCertificateRequired, .appTransportSecurityRequiresSecureConnection:
            .insecureConnection
        // On Linux, a response that isn't HTTP/1.1 has the same code as an unsupported URL.
        case .badURL, .unsupportedURL: text(error).lowercased().contains("http/0.9") ? .invalidResponse : .invalidURL
        case .requestBodyStreamExhausted: .bodyNotReplayable
        case .fileDoesNotExist, .noPermissionsToReadFile: .fileFailed
        case .unknown: code(fromText: text(error).lowercased())
        default: .transportFailed
        }
    }

    private static func isEmptyReply(_ error: URLError) -> Bool {
        #if canImport(FoundationNetworking)
        true
        #else
        false
        #endif
    }

    private static func text(_ error: URLError) -> String {
        error.userInfo[NSLocalizedDescriptionKey] as? String ?? error.localizedDescription
    }

    /// Returns the code for libcurl's message. On Linux, URLSession reports only the message.
    private static func code(fromText text: String) -> Code {
        let table: [(String, Code)] = [
            ("outstanding read data", .truncated), ("partial file", .truncated), ("bytes missing", .truncated),
            ("certificate", .insecureConnection), ("ssl", .insecureConnection), ("tls", .insecureConnection),
            ("content encoding", .invalidResponse), ("content-length", .invalidResponse),
            ("weird server reply", .invalidResponse), ("chunk", .invalidResponse), ("http/0.9", .invalidResponse),
            ("unsupported protocol", .invalidResponse), ("receiving data", .connectionLost),
            ("connect to", .cannotConnect), ("resolve host", .nameLookupFailed),
            ("recv failure", .connectionLost), ("send failure", .connectionLost),
        ]
        return table.first { text.contains($0.0) }?.1 ?? .transportFailed
    }
}
