/// Sources of one module with mistakes and one without. Each line with a mistake ends with `// wrong`.
enum CheckedTypes {
    static let wrong = """
        import Errand
        import ErrandCache
        import ErrandEssentials

        struct Headers: Request {
            var headers: [String: String] { [:] } // wrong
            var path: String { "users" }
        }
        struct Optional: Request { var headers: [String: String]? { nil } } // wrong
        struct Seconds: Request {
            var timeout: Double { 3 } // wrong
            let deadline: Double = 3 // wrong
        }
        struct Required: Request { var timeout: Duration { .seconds(3) } } // wrong
        struct Query: Request {
            var querry: Parameters { ["a": 1] } // wrong
            let parametres: Parameters? = nil // wrong
        }
        struct Text: Request { var path: Substring { "users" } } // wrong
        struct Verb: Request { var method: String { "POST" } } // wrong
        struct Fixed: Request { static let path = "users" } // wrong
        struct Function: Request { func path() -> String { "users" } } // wrong
        struct Spelled: Request { var pth: String { "users" } } // wrong
        struct Cased: Request { var timeOut: Duration? { nil } } // wrong
        struct Swapped: Request { var haeders: HTTPHeaders { [:] } } // wrong
        struct Result: Request {
            typealias Ouput = String // wrong
        }
        struct Coded: Request {
            typealias Output = Int
            func decode(_ response: HTTPResponse, _ user: Int) throws -> Int { 3 } // wrong
        }
        struct Entry: CacheableRequest {
            var cacheTags: Set<String> { [] } // wrong
            var cachePolicy: CachePolicy { .http }
            var cacheStor: (any CacheStore)? { nil } // wrong
        }
        struct Watching: Accessory {
            func activity(_ activity: Activity, did event: ActivityEvent) {}
            var maximumBodyByte: Int { 3 } // wrong
        }
        struct Passing: Filter {
            func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse { try await next(exchange) }
            var stages: [FilterStages] { [.hop] } // wrong
        }
        protocol Service: Request {}
        extension Service {
            var priority: Int { 3 } // wrong
        }
        struct Labelled: Request {
            typealias Output = Int
            func decode(data: Data) throws -> Int { 3 } // wrong
        }
        @MainActor final class Screen: RequestDelegate {
            func requestDidSucceed(_ activity: Activity, response: Response<Int>) {} // wrong
            func requestDidFailed(_ activity: Activity, error: any Error) {} // wrong
            func requestDidCancel() {} // wrong
        }
        @MainActor final class List: CompositeDelegate {
            func compositeDidFail(_ activity: Activity) {} // wrong
        }
        extension Request {
            var acceptableStatus: StatusCodes { .successful } // wrong
        }
        """

    static let right = """
        import Errand
        import ErrandCache
        import ErrandEssentials

        /// Its own words.
        struct Plain: Request {
            typealias Output = String
            /// The path.
            var path: String { "users/\\(id)" }
            let id: Int
            let timeout: Duration?
            var headers: HTTPHeaders { [:] }
            var query: Parameters { ["id": id] }
            let paths: [String]
            let part: String
            let page: Int
            var bodyText: String { "" }
            func path(for id: Int) -> String { "users/\\(id)" }
            func decode(_ data: Data, as text: String) -> String { text }
        }
        struct Constant: Request {
            static let path = "users"
            var path: String { Self.path }
            static func decode(_ text: String) -> Int { 3 }
        }
        struct Generic<Value: Decodable & Sendable>: Request {
            typealias Output = [Value]
            typealias Outputs = [Output]
            let path: String
            let method: HTTPMethod
        }
        final class Shared: Request {
            let path = "users"
            var tags: Tags { Tags() }
        }
        class Base: Request, @unchecked Sendable {
            var path: String { "base" }
            init() {}
        }
        final class Derived: Base, @unchecked Sendable {
            override var path: String { "derived" }
            override init() {}
        }
        enum Choice: Request {
            case headers, timeout
            case user(Int)
            var path: String { "choice" }
        }
        protocol Service: Request { var version: Int { get } }
        extension Service {
            var path: String { "v\\(version)" }
            var priority: RequestPriority? { .high }
            func decode(_ response: HTTPResponse) async throws -> Data { Data() }
        }
        struct User: Service {
            var version: Int { 2 }
            var base: RequestBaseURL { .standard }
        }
        struct Throwing: Request {
            typealias Output = Int
            var path: String { "a" }
            func decode(_ response: HTTPResponse) -> Int { 3 }
            func mapError(_ error: any Error) -> any Error { error }
        }
        struct Entry: CacheableRequest {
            var path: String { "a" }
            var cachePolicy: CachePolicy { .http }
            var cacheTags: [String] { [] }
            let cached: Bool
        }
        actor Counting: Accessory {
            nonisolated func activity(_ activity: Activity, did event: ActivityEvent) {}
            nonisolated var maximumBodyBytes: Int { 3 }
            var count = 0
        }
        struct Passing: Filter {
            let trait: Int
            let stage: FilterStages
            func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse { try await next(exchange) }
            func filter(_ numbers: [Int]) -> [Int] { numbers }
            var stages: FilterStages { stage }
            func traits(for request: any Request) -> FilterTraits { [] }
        }
        struct Marked: Request {
            let tags: [String]  // not a requirement
            let lane: String
            var encoded: Data { Data() }
        }
        struct Coding: BodyDecoder {
            var contentTypes: ContentTypes { .any }
            func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value { throw CancellationError() }
            func encode(_ response: HTTPResponse) -> Int { 3 }
        }
        struct Coded: Request {
            func encode(_ number: Int) -> Data { Data() }
            func httpRequest(for id: Int) -> HTTPRequest? { nil }
            func mapError(_ error: any Error, depth: Int) -> any Error { error }
        }
        struct Elsewhere {
            var headers: [String: String] { [:] }
            var path: Int { 3 }
        }
        extension Elsewhere { var timeout: Double { 3 } }
        """
}
