/// The declarations that code in doc comments can use.
enum DocCommentContext {
    /// Types whose comments show how to add them to an agent's filters.
    static let filters: Set<String> = ["BodyFilter", "HeaderFilter", "Signer"]

    /// The types that leading dots refer to in comments that don't belong to a type.
    static let types = [
        "Plugins/JSONValidation/Shape/JSONShape.swift": "JSONShape",
        "Plugins/URLFilters/URL/CDNFilter.swift": "any URLFilter",
        "Plugins/URLFilters/URL/QueryFilter.swift": "any URLFilter",
    ]

    static let source = #"""
        import Errand
        import ErrandAuthentication
        import ErrandBatch
        import ErrandCache
        import ErrandCacheTesting
        import ErrandChain
        import ErrandCoalescing
        import ErrandCompression
        import ErrandConformance
        import ErrandCookies
        import ErrandCurlTransport
        import ErrandEnvelopes
        import ErrandHTTPSyntax
        import ErrandInspector
        import ErrandJSONDecoding
        import ErrandJSONSchema
        import ErrandJSONValidation
        import ErrandKeys
        import ErrandLoadingIndicatorLog
        import ErrandMultipart
        import ErrandOAuth
        import ErrandOAuthTesting
        import ErrandOutbox
        import ErrandPaging
        import ErrandRecording
        import ErrandReplay
        import ErrandResumableDownload
        import ErrandResumableUpload
        import ErrandSigning
        import ErrandStreaming
        import ErrandRetry
        import ErrandStates
        import ErrandSystemTransport
        import ErrandTesting
        import ErrandURLFilters
        import ErrandURLSessionTransport
        import ErrandWebSocket
        import ErrandXML
        import Foundation
        #if canImport(FoundationNetworking)
        import FoundationNetworking
        #endif
        import Synchronization

        let url = "https://api.example.com"
        let agent = NetworkAgent(baseURL: url, transport: .stub(.text("")))
        let inspector = TrafficInspector()
        let (shopURL, mapsURL) = (url, url)
        let directory = URL(filePath: "/tmp")
        let (folder, file) = (directory, directory)
        let (data, bytes, first, second) = (Data(), Data(), Data(), Data())
        let (key, secret, userID, backupPin, password) = ("", "", "", "", "")
        let ids = [1, 2]
        let wantsFeed = true
        let (text, page) = ("swift", 2)
        let cursor: String? = nil
        let user = User(id: 7, name: "Ada")
        let filter = user
        let urlRequest = URLRequest(url: directory)
        nonisolated(unsafe) var configuration = CurlConfiguration()
        nonisolated(unsafe) var policy = RetryPolicy()
        @MainActor final class Bar { var progress = 0.0, fraction = 0.0 }
        let bar = Bar()
        func show(_ values: Any?...) {}
        func show(_ value: Any?, at index: Int) {}
        func showAge() {}
        func log(_ value: Any?) {}
        func play(_ file: URL) {}
        func value<Value>() -> Value { fatalError() }

        nonisolated struct User: Codable, Sendable {
            let id: Int
            let name: String
        }
        nonisolated struct Feed: Codable, Sendable {}
        nonisolated struct NewUser: Encodable, Sendable { let name: String }
        nonisolated struct APIError: Decodable { let reason: String }
        nonisolated struct Envelope: Decodable { let code: Int }
        nonisolated struct Reply: ResponseEnvelope {
            let code: EnvelopeCode
            var isSuccess: Bool { code == 0 }
        }
        struct QuotaError: Error {}
        struct BusinessError: Error {
            let code: Int
            init(_ code: Int) { self.code = code }
        }
        struct Get: Request { typealias Output = Data }
        struct GetSlow: Request { typealias Output = String }
        struct GetAds: Request { typealias Output = [String] }
        struct GetUser: Request {
            typealias Output = User
            let id: Int
        }
        struct GetFile: Request {
            typealias Output = Data
            let path: String
        }
        struct CreateUser: Request {
            typealias Output = User
            let name: String
        }
        struct GetFeed: CacheableRequest {
            typealias Output = Feed
            var cachePolicy: CachePolicy { .http }
        }
        nonisolated struct RoomEvent: Decodable, Sendable {}
        nonisolated struct RoomCommand: Encodable, Sendable { let text: String }
        struct Chat: WebSocketRequest {
            typealias Incoming = RoomEvent
            typealias Outgoing = RoomCommand
            let room: Int
        }
        let socket = agent.webSocket(Chat(room: 7))
        let transport: any ConnectingTransport = value()
        let options = TransportOptions()
        struct GetNews: EventRequest { var path: String { "news" } }
        nonisolated struct Entry: Decodable, Sendable {}
        struct GetVideo: DownloadRequest { let destination: URL }
        struct Video: Decodable, Sendable {}
        struct SendVideo: UploadRequest {
            typealias Output = Video
            let file: URL
        }
        let request = GetVideo(destination: folder)
        let mirrors = ["a", "b"]
        let photos = mirrors.map(GetFile.init)
        let (photo, thumbnail) = (directory, Data())
        struct UploadPhoto: Request {
            typealias Output = Void
            let photo: URL
        }
        let server: TestServer = value()
        let body: HTTPBody = value()
        let handle = FileHandle.standardOutput
        nonisolated(unsafe) var address: URLText = value()
        let response: HTTPResponse = value()
        let recorder = ExchangeRecorder()
        let spinner = Spinner()
        final class Spinner: @unchecked Sendable { var isHidden = true }
        let indicator = LoadingIndicator()
        let cache = ResponseCache(.memory())
        let client = OAuthClient(issuer: url, id: "app", transport: .stub)
        let session = Session()
        final class Session: Sendable {
            let id = ""
            var token: String { get async throws { "" } }
        }
        let (saved, access, refresh): (BearerToken?, String, String) = (nil, "", "")
        func signIn() async throws -> BearerToken? { nil }
        func renew(_ token: BearerToken) async throws -> BearerToken { token }
        func showSignIn() {}
        let jar = CookieJar()
        nonisolated struct Article: Codable, Sendable {}
        nonisolated struct Articles: Codable, Sendable {
            let articles: [Article]
            let total: Int
        }
        struct GetArticles: PagedRequest {
            typealias Output = Articles
            var page = PagePosition.number()
            func items(in response: Response<Articles>) -> [Article] { response.value.articles }
        }
        let exchange: Exchange = value()
        let publicKey: PublicKey = value()
        let verifier: HTTPMessageVerifier = value()
        protocol SealedKey: Sendable { func sign(_ message: Data) async throws -> Data }
        let event: ActivityEvent = value()
        struct CBORDecoder {
            func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value { value() }
        }
        struct MyTransport: Transport {
            init(responses: [(String, String, Data)] = []) {}
            func send(_ request: HTTPRequest, options: TransportOptions) async throws -> HTTPResponse { value() }
        }
        final class MyRelay: WireRelay {
            let url: String
            init(to port: Int) throws { url = "" }
        }
        typealias MyStore = MemoryStore
        struct MyFilter: Filter {
            func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse { try await next(exchange) }
        }
        final class MyAccessory: Accessory {
            let text = ""
            func activity(_ activity: Activity, did event: ActivityEvent) {}
        }
        final class Counter: Sendable { func add() {} }
        func newDirectory() -> URL { directory }
        let test: CacheStoreSuite.Case = value()
        struct OfflineMode {}
        typealias OfflineGuard = Signature
        public typealias SecretKey = String
        struct Signature: Filter {
            init(_ key: SecretKey = "") {}
            func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse { try await next(exchange) }
        }

        nonisolated struct Item: Codable, Sendable {
            let id: Int
            let isNew: Bool
        }
        typealias Account = Item
        struct Step: Request {
            typealias Output = Item
            init(_ parts: any Sendable...) {}
        }
        typealias GetCart = Step
        typealias GetPrice = Step
        typealias PlaceOrder = Step
        typealias GetReceipt = Step
        typealias GetLines = Step
        typealias GetTotal = Step
        typealias SendWelcome = Step
        typealias GetProfile = Step
        struct Register: Request {
            typealias Output = Item
            let name: String
        }
        nonisolated struct Comment: Codable, Sendable {}
        struct PostComment: OutboxRequest {
            typealias Output = Comment
            let thread: Int
            let text: String
        }
        struct SaveDraft: OutboxRequest { typealias Output = Void }
        let types: [OutboxType] = []
        let orders = [Item(id: 1, isNew: true)]
        final class ChainScreen: ChainDelegate {}
        let screen: ChainScreen = value()
        enum Screen: TagKey { static let defaultValue = "" }
        let chain = Chain("checkout", GetCart())
        let batch = Batch(ids.map(GetUser.init))
        struct Switches: Sendable { let isOn = true }
        struct Closed: Error {}
        """#
}
