import Errand
public import ErrandEssentials
import ErrandMessageSyntax

/// The instructions for a user who signs in on a device without a browser: the page to open on another device, and the
/// code to enter there.
public struct DeviceSignIn: Sendable {
    /// The page to open on another device (`verification_uri`).
    public let page: URL
    /// The code to enter on ``page`` (`user_code`). Show the code unchanged.
    public let userCode: String
    /// The URL of a page on which the code is already filled in (`verification_uri_complete`). You can show it as a QR
    /// code. Nil if the server doesn't have such a page.
    public let pageWithCode: URL?
    /// When the code expires, by this device's clock.
    public let expiry: Date
}

extension DeviceSignIn: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The expiry. The URL and the code are left out.
    public var description: String { "a device sign-in that is valid until \(expiry)" }
    /// The same as `description`.
    public var debugDescription: String { description }
    /// A mirror that shows only the expiry.
    public var customMirror: Mirror { Mirror(self, children: ["expiry": expiry]) }
}

extension OAuthClient {
    /// Signs a user in on a device without a browser (RFC 8628).
    ///
    /// ```swift
    /// let token = try await client.signInOnDevice(scope: "profile") { device in
    ///     print("Open \(device.page) and enter \(device.userCode)")
    /// }
    /// ```
    ///
    /// The client polls the server until the user has entered the code, the code expires, or the task is cancelled. The
    /// server sets the interval between polls.
    ///
    /// - Parameters:
    ///   - scope: The scope, separated by spaces. Defaults to nil, which means the server's default.
    ///   - parameters: Additional parameters. Defaults to no parameters.
    ///   - show: Shows the page and the code. Return immediately, because polling begins when the closure returns.
    ///
    /// Throws ``OAuthError``: `deviceCodeExpired` if the user didn't enter the code in time, `accessDenied` if the user
    /// refused.
    public func signInOnDevice(
        scope: String? = nil, parameters: [String: String] = [:],
        show: (DeviceSignIn) async throws -> Void
    ) async throws -> OAuthToken {
        var form: [(name: String, value: String)] = []
        if let scope { form.append(("scope", scope)) }
        try Self.add(parameters, to: &form)
        let endpoint = try Endpoint(
            try await server().deviceAuthorizationEndpoint, "device authorization endpoint")
        let reply = try await post(form, to: endpoint, hiding: [])
        let codes = try DeviceReply(reply.data)
        let end = reply.sent.advanced(by: .seconds(codes.lifetime))
        try await show(codes.signIn(until: time.date.addingTimeInterval(time.now.duration(to: end) / .seconds(1))))
        return try await token(of: codes, until: end)
    }

    /// Polls the server until it issues a token or refuses (RFC 8628, sections 3.4 and 3.5).
    private func token(of reply: DeviceReply, until end: ContinuousClock.Instant) async throws -> OAuthToken {
        let form = [
            (name: "grant_type", value: "urn:ietf:params:oauth:grant-type:device_code"),
            ("device_code", reply.deviceCode),
        ]
        var interval = reply.interval
        while true {
            let next = time.instant(after: .seconds(interval))
            guard next < end else { throw OAuthError(.deviceCodeExpired, "the code wasn't entered in time") }
            try await time.sleep(until: next)
            do { return try await token(for: form, hiding: [reply.deviceCode]) } catch let error as OAuthError {
                guard let wait = DevicePolling.interval(after: error, interval) else { throw error }
                interval = wait
            }
        }
    }
}

enum DevicePolling {
    static let maximumInterval: Int64 = 600

    /// In seconds. Returns nil if the error is final.
    static func interval(after error: OAuthError, _ interval: Int64) -> Int64? {
        switch error.serverCode {
        case "authorization_pending": interval
        // Some servers give the new interval. It never shortens the one that the standard requires.
        case "slow_down":
            max(
                min(interval + 5, maximumInterval),
                ServerSeconds.whole(error.pollingInterval ?? 0, atMost: maximumInterval))
        // Poll half as often after a timeout (RFC 8628, section 3.5), and also if the server is busy.
        default: error.isRetryable ? min(interval * 2, maximumInterval) : nil
        }
    }
}

/// A number of seconds. Some servers send it as text, or leave it blank.
struct ServerSeconds: Decodable {
    let number: Double?

    init(from decoder: any Decoder) throws {
        let value = try decoder.singleValueContainer()
        if let number = try? value.decode(Double.self) {
            self.number = number
            return
        }
        guard let text = ServerText.given(try value.decode(String.self)) else {
            number = nil
            return
        }
        guard let number = ASCII.decimal(text) else {
            throw DecodingError.dataCorruptedError(
                in: value, debugDescription: "expected a number of seconds, found other text")
        }
        self.number = number
    }

    /// Rounds up. Returns at least one second.
    static func whole(_ number: Double, atMost most: Int64) -> Int64 {
        guard number >= 1 else { return 1 }
        return number < Double(most) ? Int64(number.rounded(.up)) : most
    }
}

/// RFC 8628, section 3.2.
struct DeviceReply {
    let deviceCode: String
    let lifetime: Int64
    let interval: Int64
    private let userCode: String
    private let page: URL
    private let pageWithCode: URL?

    private struct Members: Decodable {
        let device_code: String
        let user_code: String
        let verification_uri: String?
        /// Some servers use this name from early drafts.
        let verification_url: String?
        let verification_uri_complete: String?
        let expires_in: ServerSeconds
        let interval: ServerSeconds?
    }

    init(_ data: Data) throws(OAuthError) {
        guard let members = try? JSONDecoder().decode(Members.self, from: data), !members.device_code.isEmpty,
            !members.user_code.isEmpty, members.user_code.count <= 64, let seconds = members.expires_in.number,
            let page = ServerText.given(members.verification_uri) ?? members.verification_url
        else {
            throw OAuthError(
                .invalidResponse, "the response has no device code, user code or page for a sign-in on another device")
        }
        deviceCode = members.device_code
        userCode = ControlCharacters.escaped(members.user_code)
        self.page = try ServerAddress.checked(page, "verification_uri")
        let complete = ServerText.given(members.verification_uri_complete)
        pageWithCode = try complete.map { text throws(OAuthError) in
            try ServerAddress.checked(text, "verification_uri_complete")
        }
        lifetime = ServerSeconds.whole(seconds, atMost: 86_400)
        interval = ServerSeconds.whole(members.interval?.number ?? 5, atMost: DevicePolling.maximumInterval)
    }

    func signIn(until expiry: Date) -> DeviceSignIn {
        DeviceSignIn(page: page, userCode: userCode, pageWithCode: pageWithCode, expiry: expiry)
    }
}
