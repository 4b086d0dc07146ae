{
  description = "Muninn, a chat bot for teams that remembers";

  inputs.nixpkgs.url = "github:NixOS/nixpkgs/nixos-unstable";

  outputs = { self, nixpkgs }:
    let
      systems = [ "x86_64-linux" "aarch64-linux" "x86_64-darwin" "aarch64-darwin" ];
      each = make: nixpkgs.lib.genAttrs systems (system: make nixpkgs.legacyPackages.${system});
      manifest = builtins.fromTOML (builtins.readFile ./Cargo.toml);
    in
    {
      packages = each (pkgs: rec {
        muninn = pkgs.rustPlatform.buildRustPackage {
          pname = manifest.package.name;
          inherit (manifest.package) version;
          src = self;
          cargoLock.lockFile = ./Cargo.lock;
          cargoBuildFlags = [ "--bin" "muninn" ];
          # The tests want servers and a terminal; `.ci/run` runs them.
          doCheck = false;
          nativeBuildInputs = [ pkgs.installShellFiles ];
          postInstall = pkgs.lib.optionalString (pkgs.stdenv.buildPlatform.canExecute pkgs.stdenv.hostPlatform) ''
            $out/bin/muninn man --out man
            installManPage man/*.1
            for shell in bash fish zsh; do
              $out/bin/muninn completions $shell > muninn.$shell
            done
            installShellCompletion muninn.bash muninn.fish --zsh muninn.zsh
          '';
          meta = {
            inherit (manifest.package) description;
            license = with pkgs.lib.licenses; [ mit asl20 ];
            mainProgram = "muninn";
          };
        };
        default = muninn;
      });

      devShells = each (pkgs: {
        default = pkgs.mkShell { packages = with pkgs; [ cargo clippy rustc rustfmt jdk maven nodejs python3 ]; };
      });

      # The service with the settings of packaging/muninn.service.
      nixosModules.default = { config, lib, pkgs, ... }:
        let settings = config.services.muninn;
        in
        {
          options.services.muninn = {
            enable = lib.mkEnableOption "Muninn, a chat bot that remembers";
            package = lib.mkOption {
              type = lib.types.package;
              default = self.packages.${pkgs.stdenv.hostPlatform.system}.muninn;
              description = "The program.";
            };
            environmentFile = lib.mkOption {
              type = lib.types.path;
              description = "NAME=value lines with the settings and secrets; it is not copied into the store.";
            };
          };
          config = lib.mkIf settings.enable {
            systemd.packages = [
              (pkgs.runCommand "muninn-unit" { } ''
                install -D -m 644 ${./packaging/muninn.service} $out/lib/systemd/system/muninn.service
                substituteInPlace $out/lib/systemd/system/muninn.service \
                  --replace-fail /usr/local/bin/muninn ${lib.getExe settings.package} \
                  --replace-fail /etc/muninn/muninn.env ${toString settings.environmentFile}
              '')
            ];
            systemd.services.muninn.wantedBy = [ "multi-user.target" ];
          };
        };
    };
}
