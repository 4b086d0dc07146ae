# A formula for a tap. `.ci/release` fills in the address, the version and the checksum of the source archive.
class Muninn < Formula
  desc "Chat bot for teams that remembers"
  homepage "@HOMEPAGE@"
  url "@HOMEPAGE@/releases/download/v@VERSION@/muninn-@VERSION@-src.tar.gz"
  sha256 "@SHA256@"
  license any_of: ["MIT", "Apache-2.0"]

  depends_on "rust" => :build

  def install
    system "cargo", "install", *std_cargo_args
    system bin/"muninn", "man", "--out", "man"
    man1.install Dir["man/*.1"]
    generate_completions_from_executable(bin/"muninn", "completions")
  end

  # The service starts in it.
  def post_install
    (var/"muninn").mkpath
  end

  def caveats
    "The service reads its settings (NAME=value lines) from #{var}/muninn/.env and keeps its data beside it."
  end

  service do
    run [opt_bin/"muninn", "serve"]
    environment_variables DATA_DIR: var/"muninn"
    working_dir var/"muninn"
    keep_alive true
    log_path var/"log/muninn.log"
    error_log_path var/"log/muninn.log"
  end

  test do
    ENV["DATA_DIR"] = testpath/"data"
    answer = pipe_output("#{bin}/muninn chat", "What is the code of the door?\n", 0)
    refute_empty answer
  end
end
