import ErrandAppModels
import ErrandResumableUpload
import Foundation
import SwiftUI

/// An upload with progress. The user can pause it, and it continues after the screen is closed.
struct UploadView: View {
    let model: UploadModel
    let film: URL

    var body: some View {
        Form {
            FailureText(text: model.failure)
            ProgressView(value: model.fraction) { Text(model.status) }
            if !model.isRunning {
                Button("Send 8 MB") { model.start(film) }
            } else if model.isPaused {
                Button("Resume") { model.resume() }
            } else {
                Button("Pause") { model.pause() }
            }
            if model.isRunning { Button("Cancel", role: .cancel) { model.cancel() } }
            ForEach(model.notices.indices, id: \.self) { index in Text(model.notices[index].description) }
        }
        .navigationTitle("Upload")
    }
}
